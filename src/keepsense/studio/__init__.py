"""The local web application: from a file to a verified release, in a browser on the publisher's own machine.

`session` and what is beneath know nothing of browsers; `server` and `security` let nobody else in; `shell` draws the
room around the pages, of which there is one a file in `pages`.
"""
