// This file stores uploaded files between the preview of an import and the import.

package web

import (
	"bytes"
	"io"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// uploadedFile is a file that a browser has sent and a person has not imported yet.
type uploadedFile struct {
	name          string
	content       []byte
	contentDigest string
}

// uploadedFiles contains the last uploaded file of each browser, until it is imported.
type uploadedFiles struct {
	mu            sync.Mutex
	fileByBrowser map[string]uploadedFile // files by session ID
}

// maxUploads is the maximum number of uploaded files that the server keeps for later requests. They need at most 64 MB
// of memory.
const maxUploads = 16

func (u *uploadedFiles) keepUpload(browserID string, file uploadedFile) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.fileByBrowser == nil || len(u.fileByBrowser) >= maxUploads {
		u.fileByBrowser = map[string]uploadedFile{}
	}
	u.fileByBrowser[browserID] = file
}

// takeUpload removes the file that a browser has uploaded, and returns it. It returns false if the browser has
// uploaded no file, or if the file's digest is not the given digest.
func (u *uploadedFiles) takeUpload(browserID, digest string) (uploadedFile, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	file, ok := u.fileByBrowser[browserID]
	if !ok || file.contentDigest != digest {
		return uploadedFile{}, false
	}
	delete(u.fileByBrowser, browserID)
	return file, true
}

// importArguments returns the arguments for importing the file.
func (f uploadedFile) importArguments() transfer.ImportIn {
	return transfer.ImportIn{
		Paths:       []string{f.name},
		InputByPath: map[string]io.Reader{f.name: bytes.NewReader(f.content)},
	}
}
