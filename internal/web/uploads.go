// This file stores uploaded files between the preview of an import and the import.

package web

import (
	"bytes"
	"io"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// upload is a file that a browser has sent and a person has not imported yet.
type upload struct {
	name    string
	content []byte
	digest  string
}

// uploads contains the last uploaded file of each browser, until it is imported.
type uploads struct {
	mu    sync.Mutex
	files map[string]upload // files by session ID
}

// maxUploads is the maximum number of files. They need at most 64 MB of memory.
const maxUploads = 16

func (u *uploads) keepUpload(id string, file upload) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.files == nil || len(u.files) >= maxUploads {
		u.files = map[string]upload{}
	}
	u.files[id] = file
}

// takeUpload returns the file of a browser and removes it from the uploads. It returns false if the file has a
// different digest.
func (u *uploads) takeUpload(id, digest string) (upload, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	file, ok := u.files[id]
	if !ok || file.digest != digest {
		return upload{}, false
	}
	delete(u.files, id)
	return file, true
}

// importArgs returns the arguments for importing the file.
func (f upload) importArgs() transfer.ImportIn {
	return transfer.ImportIn{Paths: []string{f.name}, Inputs: map[string]io.Reader{f.name: bytes.NewReader(f.content)}}
}
