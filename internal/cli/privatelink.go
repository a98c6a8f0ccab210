// This file opens a sign-in link in a browser without revealing it to other users. Every user of the machine can read
// a program's arguments, and the link works only once.

package cli

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// redirectPageHTML is a page that redirects the browser to a link.
const redirectPageHTML = `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=%s">
<title>oxbow</title>
<p><a href="%[1]s">Open the memory</a></p>
`

// openPrivateLink opens a link in the person's browser. The browser reads the link from a file that only this person
// can read. The caller must call remove as soon as the link is not needed any more.
func (env *environment) openPrivateLink(link string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "oxbow-ui-") // MkdirTemp creates the directory with mode 0700.
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = vfs.RemoveTree(dir) }
	file := filepath.Join(dir, "open.html")
	if err := os.WriteFile(file, fmt.Appendf(nil, redirectPageHTML, html.EscapeString(link)), 0o600); err != nil {
		remove()
		return func() {}, err
	}
	at := filepath.ToSlash(file)
	if !strings.HasPrefix(at, "/") { // The path begins with a Windows drive letter.
		at = "/" + at
	}
	if err := env.OpenBrowser((&url.URL{Scheme: "file", Path: at}).String()); err != nil {
		remove()
		return func() {}, fmt.Errorf("no browser could be opened: %w", err)
	}
	return remove, nil
}
