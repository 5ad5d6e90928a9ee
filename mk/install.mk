# Copies the programs below $(DESTDIR)$(PREFIX), and takes them away again.
# fzinit is not for people: dockrun finds it in libexec.
MANUALS	:= $(wildcard tools/*/*.[15])
TOOLS	:= $(filter-out fzinit,$(notdir $(PROGRAMS)))

install: all		## copy programs and manuals below $(DESTDIR)$(PREFIX)
	@for p in $(TOOLS); do \
	    install -D -m 755 $(B)/bin/$$p $(DESTDIR)$(BINDIR)/$$p; done
	@install -D -m 755 $(B)/bin/fzinit $(DESTDIR)$(LIBEXECDIR)/fzinit
	@for m in $(MANUALS); do install -D -m 644 $$m \
	    $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done

uninstall:		## remove what install copied
	@for p in $(TOOLS); do rm -f $(DESTDIR)$(BINDIR)/$$p; done
	@rm -f $(DESTDIR)$(LIBEXECDIR)/fzinit
	@for m in $(MANUALS); do \
	    rm -f $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done
	@rmdir -p $(DESTDIR)$(LIBEXECDIR) 2>/dev/null || :

clean:			## remove what was built (never a run)
	rm -rf $(B)

distclean: clean	## the same, and every build variant
	rm -rf build

.PHONY: install uninstall clean distclean
