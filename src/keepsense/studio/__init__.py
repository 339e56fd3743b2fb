"""The studio: a local web application, from a file to a verified release, in a browser on the publisher's machine.

`session` and all below it know nothing of browsers; `server` and `serving` admit no one else; `shell` draws the frame
around the pages, one module each in `pages`.
"""
