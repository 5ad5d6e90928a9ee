/* SPDX-License-Identifier: MIT */
/* -t squid: one process with a gate to the api and a CONNECT proxy. */
#include "gen.h"

#include <string.h>
#include <sysexits.h>

#include "err.h"

/* Adds lines that are the same for every policy. */
static void
put_lines(struct gen *g, const char *const *line)
{
	for (; *line != NULL; line++)
		gen_put(g, "%s\n", *line);
}

static const char *const process[] = {
	"pid_filename none",
	"httpd_suppress_version_string on",
	"via off",
	"cache deny all",
	"cache_mem 8 MB",
	"cache_store_log none",
	"netdb_filename none",
	"coredump_dir none",
	"pinger_enable off",
	"digest_generation off",
	"logfile_rotate 0",
	"max_filedescriptors 16384",
	"client_ip_max_connections 1200",
	"shutdown_lifetime 1 seconds",
	"half_closed_clients off",
	"# One request each: relays limit connections.",
	"client_persistent_connections off",
	"client_lifetime 1 day",
	"request_start_timeout 15 seconds",
	"request_timeout 5 minutes",
	"connect_timeout 10 seconds",
	"forward_timeout 30 seconds",
	"read_timeout 20 minutes",
	"request_header_max_size 32 KB",
	"reply_header_max_size 64 KB",
	"request_body_max_size 32 MB",
	"# A full buffer is taken for the client's end (squid 5.7): an upload to",
	"# a slow server would be cut.  So it holds the whole body.",
	"client_request_buffer_max_size 33 MB",
	"relaxed_header_parser off",
	"uri_whitespace deny",
	"strip_query_terms off",
	"# Not used, but by default they look up the name of every client.",
	"url_rewrite_extras \"%>a\"",
	"store_id_extras \"%>a\"",
	"dns_timeout 5 seconds",
	"positive_dns_ttl 5 minutes",
	"# Also the least time that an address is kept: an outage is over soon,",
	"# and a name does not change between the check and the connection.",
	"negative_dns_ttl 5 seconds",
	NULL,
};

static void
put_process(struct gen *g)
{
	gen_put(g, "\n# the process\n");
	gen_put(g, "visible_hostname %s\n", POLICY_PROXY);
	put_lines(g, process);
	gen_put(g,
	    "logformat fz %%ts.%%03tu port=%%lp client=%%>a method=%%.64rm "
	    "target=%%.256ru status=%%>Hs result=%%Ss rule=%%{deny}note "
	    "sni=%%#.256ssl::>sni bump=%%ssl::bump_mode ms=%%tr up=%%>st "
	    "down=%%<st\n");
	gen_put(g, "access_log stdio:%s/access.log fz\n", g->dir);
	gen_put(g, "cache_log %s/cache.log\n", g->dir);
	gen_put(g, "buffered_logs off\n");
	gen_put(g, "error_directory %s/usr/share/squid-langpack/templates\n",
	    g->root);
	gen_put(g, "err_page_stylesheet none\n");
	gen_put(g, "icon_directory %s/usr/share/squid/icons\n", g->root);
	gen_put(g, "mime_table %s/usr/share/squid/mime.conf\n", g->root);
	gen_put(g, "unlinkd_program %s/usr/lib/squid/unlinkd\n", g->root);
}

static void
put_tags(struct gen *g)
{
	static const char *const tags[] = { "api-host", "inner-source",
		"ip-literal", "ipv6-address", "manager", "maxconn",
		"method-path", "name", "not-connect", "port", "sni",
		"special-address", "token" };

	gen_put(g, "\n# what the log says of a refusal\n");
	for (size_t i = 0; i < ARRAY_LEN(tags); i++)
		gen_put(g, "acl t-%s annotate_transaction deny=%s\n", tags[i],
		    tags[i]);
}

static void
put_ports(struct gen *g)
{
	const struct policy *p = g->policy;

	gen_put(g, "\n# ports, all on loopback\n");
	if (p->api.line != 0) {
		gen_put(g,
		    "http_port 127.0.0.1:%d name=gate accel defaultsite=%s "
		    "no-vhost\n",
		    g->gate_port, p->api.host);
		gen_put(g, "acl gate myportname gate\n");
		gen_put(g, "never_direct allow gate\n");
	}
	if (p->allows > 0) {
		gen_put(
		    g, "http_port 127.0.0.1:%d name=front\n", g->proxy_port);
		gen_put(g,
		    "http_port 127.0.0.1:%d name=inner ssl-bump "
		    "cert=%s/peek.pem generate-host-certificates=off\n",
		    g->proxy_port + 1, g->dir);
		gen_put(g, "acl front myportname front\n");
		gen_put(g, "acl inner myportname inner\n");
		gen_put(g, "never_direct allow front\n");
		gen_put(g, "always_direct allow inner\n");
		gen_put(g, "nonhierarchical_direct off\n");
	}
	gen_put(g, "acl crowd maxconn 16\n");
	gen_put(g, "http_access deny manager t-manager\n");
}

static void
put_peer(struct gen *g)
{
	const struct policy_api *a = &g->policy->api;

	gen_put(g,
	    "cache_peer %s parent %d 0 name=api originserver no-query "
	    "no-digest no-netdb-exchange forceddomain=%s tls ssldomain=%s",
	    a->host, a->port, a->host, a->host);
	if (g->ca != NULL)
		gen_put(g, " tls-cafile=%s tls-default-ca=off", g->ca);
	gen_put(g, "\ncache_peer_access api allow gate\n");
	gen_put(g, "cache_peer_access api deny all\n");
}

/* A path as a regular expression; the agent adds one query. */
static void
put_path(struct gen *g, size_t nth, const char *path)
{
	gen_put(g, "acl path-%zu urlpath_regex ^", nth);
	for (; *path != '\0'; path++)
		gen_put(g, *path == '.' ? "\\%c" : "%c", *path);
	gen_put(g, "(\\?beta=true)?$\n");
}

static void
put_gate(struct gen *g)
{
	static const char *const dropped[] = { "Authorization", "Cache-Control",
		"Cookie", "Forwarded", "Proxy-Authorization",
		"Surrogate-Capability", "Via", "X-Api-Key", "X-Forwarded-For" };
	const struct policy_api *a = &g->policy->api;

	gen_put(g, "\n# the gate: the session's credentials out, ours in\n");
	put_peer(g);
	for (size_t i = 0; i < ARRAY_LEN(dropped); i++)
		gen_put(g, "request_header_access %s deny gate\n", dropped[i]);
	gen_put(g, "include %s/key.conf\n", g->dir);
	gen_put(g, "include %s/token.conf\n", g->dir);
	gen_put(g, "# urlpath_regex sees %%xx decoded: this one does not\n");
	gen_put(g,
	    "external_acl_type raw-path ttl=3600 negative_ttl=60 cache=1024 "
	    "children-max=1 children-startup=1 queue-size=1024 "
	    "%%#>rp /usr/bin/sed -u -e "
	    "s/.*%%.*/ERR/ -e t -e s/.*/OK/\n");
	gen_put(g, "acl raw external raw-path\n");
	gen_put(g, "http_access deny gate !token t-token\n");
	gen_put(g, "http_access deny gate crowd t-maxconn\n");
	for (size_t i = 0; i < a->pairs; i++) {
		gen_put(g, "acl method-%zu method %s\n", i, a->pair[i].method);
		put_path(g, i, a->pair[i].path);
		gen_put(g,
		    "http_access allow gate token method-%zu path-%zu raw\n", i,
		    i);
	}
	gen_put(g, "http_access deny gate t-method-path\n");
}

/* Names by port: a name is open on its own ports only. */
static void
put_names(struct gen *g)
{
	const struct policy *p = g->policy;

	for (size_t i = 0; i < p->allows; i++)
		gen_put(g, "acl name-%d dstdomain -n %s\n", p->allow[i].port,
		    p->allow[i].name);
	for (size_t i = 0; i < p->allows; i++) {
		int port = p->allow[i].port;
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = p->allow[k].port == port;
		if (seen)
			continue;
		gen_put(g, "acl port-%d port %d\n", port, port);
		gen_put(g, "acl named any-of name-%d\n", port);
		gen_put(g, "acl listed all-of name-%d port-%d\n", port, port);
	}
}

static const char *const inner_port[] = {
	"cache_peer_access peek allow front",
	"cache_peer_access peek deny all",
	"acl own-hop src 127.0.0.1/32",
	"follow_x_forwarded_for allow inner own-hop",
	"follow_x_forwarded_for deny all",
	"acl_uses_indirect_client off",
	"log_uses_indirect_client on",
	"forwarded_for on",
	NULL,
};

static const char *const addresses[] = {
	"acl address dstdom_regex -n ^[0-9.]+$ ^\\[ : (^|\\.)0[xX][0-9a-fA-F]*\\.?$ (^|\\.)[0-9]+\\.?$",
	"acl v4 dst 0.0.0.0/1 128.0.0.0/1",
	"acl v6 dst ipv6",
	"acl special dst 0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8",
	"acl special dst 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24",
	"acl special dst 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16",
	"acl special dst 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24",
	"acl special dst 224.0.0.0/4 240.0.0.0/4",
	"acl special dst ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23",
	"acl special dst 2001:db8::/32 2002::/16 3fff::/20 5f00::/16",
	"acl special dst fc00::/7 fe80::/10 fec0::/10 ff00::/8",
	NULL,
};

static const char *const connect_rules[] = {
	"acl CONNECT method CONNECT",
	"http_access deny !CONNECT t-not-connect",
	"http_access deny inner !own-hop t-inner-source",
	"http_access deny address t-ip-literal",
	NULL,
};

static const char *const connect_end[] = {
	"http_access deny !named t-name",
	"http_access deny !listed t-port",
	"http_access deny front crowd t-maxconn",
	"http_access deny special t-special-address",
	"http_access deny v6 !v4 t-ipv6-address",
	"http_access allow front",
	"http_access allow inner",
	NULL,
};

static const char *const peek_rules[] = {
	"acl same external same-name",
	"ssl_bump peek step1",
	"# the name may have another address by now",
	"ssl_bump terminate special t-special-address",
	"ssl_bump splice same",
	"ssl_bump terminate all t-sni",
	"on_unsupported_protocol respond all",
	NULL,
};

/* Outside quotes squid takes "(" for a function of its own. */
static void
put_same_name(struct gen *g)
{
	gen_put(g,
	    "# the name in the ClientHello has to be there and to be "
	    "the one asked\n");
	gen_put(g, "acl step1 at_step SslBump1\n");
	gen_put(g, "configuration_includes_quoted_values on\n");
	gen_put(g,
	    "external_acl_type same-name ttl=3600 negative_ttl=60 cache=4096 "
	    "children-max=1 children-startup=1 queue-size=1024 "
	    "'%%#ssl::>sni' '%%#>rd' /usr/bin/sed -u -E -e "
	    "'s/^([^ ]+) \\\\1[.]?( .*)?$/OK/I' -e t -e 's/.*/ERR/'\n");
	gen_put(g, "configuration_includes_quoted_values off\n");
}

static void
put_connect(struct gen *g)
{
	const struct policy *p = g->policy;

	gen_put(
	    g, "\n# the CONNECT proxy: front answers, inner looks inside\n");
	gen_put(g,
	    "cache_peer 127.0.0.1 parent %d 0 no-query no-digest "
	    "no-netdb-exchange no-tproxy name=peek "
	    "connect-fail-limit=1000\n",
	    g->proxy_port + 1);
	put_lines(g, inner_port);
	put_lines(g, addresses);
	put_names(g);
	put_lines(g, connect_rules);
	if (p->api.line != 0) {
		gen_put(g, "acl api-host dstdomain -n %s\n", p->api.host);
		gen_put(g, "http_access deny api-host t-api-host\n");
	}
	put_lines(g, connect_end);
	put_same_name(g);
	put_lines(g, peek_rules);
}

/* squid.conf has no way to quote what it takes for its own. */
static int
check_path(const char *what, const char *path, struct err *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+@,~-";

	if (path[0] != '/' || path[strspn(path, plain)] != '\0' ||
	    strlen(path) > 512)
		return err_set(e, EX_USAGE,
		    "%s \"%s\": needs an absolute path of letters, digits and "
		    "/._+@,~-",
		    what, path);
	return 0;
}

static int
squid_write(struct gen *g, struct err *e)
{
	const struct policy *p = g->policy;

	if (g->dir == NULL)
		return err_set(e, EX_USAGE, "-t squid needs --dir");
	if (check_path("--dir", g->dir, e) < 0 ||
	    (g->ca != NULL && check_path("--ca", g->ca, e) < 0) ||
	    (g->root[0] != '\0' && check_path("--squid-root", g->root, e) < 0))
		return -1;
	if (p->api.line == 0 && p->allows == 0)
		return err_set(e, EX_CONFIG,
		    "no api and no allow line: there is nothing for a proxy "
		    "to do");
	put_process(g);
	put_tags(g);
	put_ports(g);
	if (p->api.line != 0)
		put_gate(g);
	if (p->allows > 0)
		put_connect(g);
	gen_put(g, "\nhttp_access deny all t-port\n");
	return 0;
}

const struct gen_type gen_squid = { "squid", squid_write };
