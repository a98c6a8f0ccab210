// Style and scripts, embedded, at paths that name their content.

// Package page has the parts that pages are made of: the frame, the words, style and
// scripts. It shows what it is given, and reads no memory.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
)

//go:embed asset
var files embed.FS

// types are the media types of files by their extension.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// Assets are the embedded files: each by the name that pages use, and by a name with
// a hash of its content, which browsers may keep for good.
type Assets struct {
	paths  map[string]string // hashed name by name
	bodies map[string][]byte // by hashed name
}

// NewAssets returns them.
func NewAssets() Assets {
	a := Assets{map[string]string{}, map[string][]byte{}}
	names, err := files.ReadDir("asset")
	if err != nil {
		panic(err)
	}
	for _, f := range names {
		b, err := files.ReadFile("asset/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum, ext := sha256.Sum256(b), path.Ext(f.Name())
		name := strings.TrimSuffix(f.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.paths[f.Name()], a.bodies[name] = name, b
	}
	return a
}

// Path returns the path of a file of a name, such as "style.css".
func (a Assets) Path(name string) string { return Root + "asset/" + a.paths[name] }

// ServeHTTP answers a request whose path names a file as {file}.
func (a Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	b, ok := a.bodies[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(b) // the browser is gone
}
