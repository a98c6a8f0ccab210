// This file serves the embedded style sheets and scripts.

// Package page contains the frame, the parts, the styles and the scripts from which web pages are built. It only
// renders arguments and reads no memory.
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
var embeddedFiles embed.FS

// mediaTypesByExtension maps file extensions to media types.
var mediaTypesByExtension = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Assets are the embedded style sheets and scripts. Pages refer to a file by its plain name. The name in its URL
// contains a hash of the content, so that a browser may cache the file forever.
type Assets struct {
	urlNameByFileName map[string]string // for each file name, the name in its URL, which contains a hash of the content
	contentByURLName  map[string][]byte // content of each file, by the name in its URL
}

// NewAssets returns the embedded files.
func NewAssets() Assets {
	a := Assets{map[string]string{}, map[string][]byte{}}
	names, err := embeddedFiles.ReadDir("asset")
	if err != nil {
		panic(err)
	}
	for _, f := range names {
		b, err := embeddedFiles.ReadFile("asset/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum, ext := sha256.Sum256(b), path.Ext(f.Name())
		name := strings.TrimSuffix(f.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext
		a.urlNameByFileName[f.Name()], a.contentByURLName[name] = name, b
	}
	return a
}

// Path returns the URL path of the file with the given name, such as "style.css". The name in the URL path also
// contains a hash of the content.
func (a Assets) Path(name string) string { return RootPath + "asset/" + a.urlNameByFileName[name] }

// ServeHTTP serves the file that the path value {file} names.
func (a Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	b, ok := a.contentByURLName[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", mediaTypesByExtension[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(b) // Ignore the error, because the browser has disconnected.
}
