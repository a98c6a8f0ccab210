// This file decides whether hooks annotate an agent's edits in working trees that lack annotations.

package setup

import (
	"errors"
	"os"
	"path/filepath"
)

// annotateEditsMarkerPath returns the path of a marker file. While the marker file exists, the client's hooks annotate
// edits in dir and below it, or everywhere if dir is empty.
func (w Machine) annotateEditsMarkerPath(client, dir string) string {
	name := "annotate." + client
	if dir != "" {
		name += "." + digestHex([]byte(filepath.Clean(dir)))[:16]
	}
	return filepath.Join(w.StateDir, name)
}

// IsAnnotationOn reports whether the client's hooks annotate edits in the directory dir. This is so if there is a
// marker file for everywhere, for dir, or for a directory that contains dir.
func (w Machine) IsAnnotationOn(client, dir string) bool {
	if fileExists(w.annotateEditsMarkerPath(client, "")) {
		return true
	}
	for ; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if fileExists(w.annotateEditsMarkerPath(client, dir)) {
			return true
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	return false
}

// CanAnnotate reports whether the client has hooks that report its agent's edits.
func (c *Client) CanAnnotate() bool { return c.events != nil || c.Name == "opencode" }

// SwitchAnnotations makes the client's hooks start or stop annotating edits: in the project if o.ForProject is set,
// otherwise everywhere.
func (c *Client) SwitchAnnotations(w Machine, o Options, shouldAnnotate bool) error {
	dir := ""
	if o.ForProject {
		dir = w.ProjectDir
	}
	path := w.annotateEditsMarkerPath(c.Name, dir)
	if shouldAnnotate {
		return errors.Join(os.MkdirAll(w.StateDir, 0o700), os.WriteFile(path, nil, 0o600))
	}
	if err := ignoreNotExist(os.Remove(path)); err != nil {
		return err
	}
	w.removeEmptyRecordsDir()
	return nil
}

// removeEmptyRecordsDir removes the directory of setup's records, and the parent directory, if they are empty.
func (w Machine) removeEmptyRecordsDir() {
	if os.Remove(w.StateDir) == nil {
		_ = os.Remove(filepath.Dir(w.StateDir))
	}
}
