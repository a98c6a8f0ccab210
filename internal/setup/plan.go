// This file plans and makes the changes of clients' files. It also writes the records that are needed to undo the
// changes.

// Package setup configures agents' clients to use oxbow. Setup edits the clients' configuration
// files, and changes only the parts that setup wrote. Removing oxbow restores the original bytes of
// each file.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A Change is a change of a file that can be shown before it is made.
type Change struct {
	Path   string
	Before []byte // content before the change (nil if the file does not exist)
	After  []byte // content after the change (nil if the change removes the file)

	realPath                string // path after resolving symbolic links
	contentWithoutOxbow     []byte // content without oxbow's parts (nil if the file did not exist before setup)
	switchesClientMemoryOff bool   // the change switches the client's own memory off
	isRemoval               bool
	mode                    fs.FileMode
	machine                 Machine

	choices *setupChoices
}

// IsUnchanged reports whether the change would leave the file as it is.
func (c *Change) IsUnchanged() bool {
	return (c.Before == nil) == (c.After == nil) && bytes.Equal(c.Before, c.After)
}

// SetupAdvice returns sentences for the person who has set up the client, such as what to do next.
func (c *Client) SetupAdvice(w Machine, o Options) []string {
	if c.adviceAfterSetup == nil {
		return nil
	}
	return c.adviceAfterSetup(w, o)
}

// errNoProjectFile is the error if a client cannot be set up for a project.
var errNoProjectFile = errors.New("it has no file of a project for servers")

// Plan returns the changes that would set up the client. Plan does not make these changes.
func (c *Client) Plan(w Machine, o Options) ([]*Change, error) {
	return c.planFiles(w, o, (*clientFile).planChange)
}

// PlanRemoval returns the changes that would remove oxbow from the client's files. PlanRemoval does not make these
// changes.
func (c *Client) PlanRemoval(w Machine, o Options) ([]*Change, error) {
	return c.planFiles(w, o, (*clientFile).planRemoval)
}

// desiredFiles returns the configuration files of the client. Each element also describes what the command oxbow setup,
// with the options o, adds to the file and removes from the file.
func (c *Client) desiredFiles(w Machine, o Options) []clientFile {
	o.knownOxbowPrograms = w.knownOxbowPrograms(o)
	return c.configFiles(w, o)
}

// planFiles calls plan for each file of the client and returns the changes. It fails if the client lacks a file for
// these options. For Codex, it also updates the hashes by which Codex trusts oxbow's hooks.
func (c *Client) planFiles(
	w Machine,
	o Options,
	plan func(f *clientFile, w Machine, o Options) (*Change, error),
) ([]*Change, error) {
	files := c.desiredFiles(w, o)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", c.Title, errNoProjectFile)
	}
	var changes []*Change
	for _, f := range files {
		ch, err := plan(&f, w, o)
		if err != nil {
			return nil, err
		}
		changes = append(changes, ch)
	}
	if c.Name == "codex" {
		return changes, updateHookTrust(w, o, changes)
	}
	return changes, nil
}

// planChange returns the change that adds oxbow's parts to the file.
func (f *clientFile) planChange(w Machine, o Options) (*Change, error) {
	c, r, err := f.planOxbowRemoval(w, o)
	if err != nil {
		return nil, err
	}
	c.switchesClientMemoryOff = c.switchesClientMemoryOff || (r != nil && r.SwitchedClientMemoryOff)
	c.After, err = f.editText(
		c.Before,
		c.contentWithoutOxbow,
		configTextEdit{shouldEditMemorySwitch: o.SwitchMemoryOff},
	)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return c.checkFileWritable()
}

// planRemoval returns the change that removes oxbow's parts from the file.
func (f *clientFile) planRemoval(w Machine, o Options) (*Change, error) {
	c, _, err := f.planOxbowRemoval(w, o)
	if err != nil {
		return nil, err
	}
	c.isRemoval = true
	c.After = c.contentWithoutOxbow
	return c.checkFileWritable()
}

// planOxbowRemoval reads the file and the record of its last setup. It returns a Change of the file, and the record.
// The field Before of the Change contains the present content of the file, and the field contentWithoutOxbow contains
// the content without oxbow's parts. The caller must set the field After to the new content. planOxbowRemoval returns
// an error if the file or the record cannot be read, or if oxbow's parts cannot be removed.
func (f *clientFile) planOxbowRemoval(w Machine, o Options) (*Change, *fileSetupRecord, error) {
	real, err := resolveLink(f.path)
	if err != nil {
		return nil, nil, err
	}
	c := &Change{
		Path:                    f.path,
		realPath:                real,
		mode:                    0o600,
		machine:                 w,
		switchesClientMemoryOff: o.SwitchMemoryOff,
		choices:                 newSetupChoices(o),
	}
	if o.ForProject {
		c.mode = 0o644
	}
	if f.isOxbowExecutable {
		c.mode = 0o755
	}
	if fi, err := os.Stat(real); err == nil {
		c.mode = fi.Mode().Perm()
	}
	c.Before, err = readFile(real)
	if err != nil {
		return nil, nil, err
	}
	r, err := w.readRecord(real)
	if err != nil {
		return nil, nil, err
	}
	c.contentWithoutOxbow, err = f.textWithoutOxbow(c.Before, r)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return c, r, nil
}

// checkFileWritable returns the change c. It also returns an error if the change would replace a read-only file. If the
// file does not exist and would be empty, it sets c.After to nil, so that no file is created.
func (c *Change) checkFileWritable() (*Change, error) {
	if c.Before == nil && len(c.After) == 0 {
		c.After = nil
	}
	if c.Before == nil || c.IsUnchanged() {
		return c, nil
	}
	return c, checkWritable(c.realPath)
}

// checkWritable returns an error if the file is read-only. It is needed because setup replaces files by renaming,
// which works for read-only files as well.
func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// textWithoutOxbow returns the content that the file would have without oxbow, or nil if the file would not exist. The
// argument text is the present content, and r is the record that setup wrote, or nil. If text is exactly what setup
// wrote, the result is the original content in the record. Otherwise textWithoutOxbow removes oxbow's parts from text.
//
// If the whole file belongs to oxbow (f.isOwnedByOxbow), the result is nil. There are two exceptions. A file without a
// record that does not contain the word oxbow is kept, because another program wrote it. An executable file is kept
// unless it is exactly a script that oxbow writes: a person may have changed the script, or another program may have
// replaced it.
func (f *clientFile) textWithoutOxbow(text []byte, r *fileSetupRecord) ([]byte, error) {
	switch {
	case text == nil:
		return nil, nil
	case r != nil && r.WrittenContentDigest == digestHex(text):
		return r.originalText()
	case f.isOwnedByOxbow:
		isOurs := r != nil || bytes.Contains(text, []byte("oxbow"))
		if f.isOxbowExecutable {
			isOurs = isClineHookScript(string(text))
		}
		if isOurs {
			return nil, nil
		}
		return text, nil
	}
	var base []byte
	existed := true
	if r != nil {
		var err error
		base, err = r.originalText()
		if err != nil {
			return nil, err
		}
		existed = base != nil
	}
	out, err := f.editText(
		text,
		base,
		configTextEdit{shouldRemoveOxbowParts: true, shouldEditMemorySwitch: r != nil && r.SwitchedClientMemoryOff},
	)
	if err != nil {
		return out, err
	}
	if !existed && isEmptyConfig(out) {
		return nil, nil
	}
	return out, nil
}

// errForeignProgram is the error if setup must write a hook file of Cline, but another program's hook already has this
// name.
var errForeignProgram = errors.New(
	"is a hook of another program, and Cline runs one file for each event. Combine the " +
		"two by hand, or use --no-inject and --no-capture",
)

// isEmptyConfig reports whether a configuration contains only white space or an empty object.
func isEmptyConfig(text []byte) bool {
	_, text = splitBOM(text)
	packed := string(bytes.Join(bytes.Fields(text), nil))
	return packed == "" || packed == "{}"
}

// configTextEdit contains options for editText, which adds oxbow's configuration to a client's file or removes it. The
// zero configTextEdit adds it.
type configTextEdit struct {
	shouldRemoveOxbowParts bool // remove oxbow's configuration from the file instead of adding it
	shouldEditMemorySwitch bool // also add or remove the part that switches the client's own memory off
}

// editText returns the new text of the file. The argument text is the present text. The argument textWithoutOxbow is
// the text that the file had before oxbow was set up. editText adds oxbow's configuration, or removes it if
// edit.shouldRemoveOxbowParts is set.
//
// If the whole file belongs to oxbow, editText returns f.content. If f.content is empty, it returns nil, which means
// that the file is to be deleted.
//
// If f.isOxbowExecutable is set and textWithoutOxbow is not nil, the present file belongs to another program or to the
// user, and editText does not replace the file. It returns the unchanged text if f.content is empty, or if the text
// contains the word oxbow, so that the user has probably combined both programs. Otherwise it returns
// errForeignProgram.
func (f *clientFile) editText(text, textWithoutOxbow []byte, edit configTextEdit) ([]byte, error) {
	if f.isOwnedByOxbow {
		switch {
		case f.isOxbowExecutable && textWithoutOxbow != nil:
			if f.content == "" || bytes.Contains(text, []byte("oxbow")) {
				return text, nil
			}
			return nil, errForeignProgram
		case f.content == "":
			return nil, nil
		}
		return []byte(f.content), nil
	}
	bom, text := splitBOM(text)
	_, textWithoutOxbow = splitBOM(textWithoutOxbow)
	if f.editTOML != nil {
		t, err := parseTOML(text)
		if err != nil {
			return nil, err
		}
		original, err := parseTOML(textWithoutOxbow)
		if err == nil {
			err = f.editTOML(t, original, !edit.shouldRemoveOxbowParts)
		}
		return joinBOM(bom, t.text), err
	}
	d, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	original, err := parseJSON(textWithoutOxbow)
	if err != nil {
		return nil, err
	}
	for _, i := range f.removals {
		if err := i.remove(d, original); err != nil {
			return nil, err
		}
	}
	items := f.additions
	if edit.shouldEditMemorySwitch && f.switchMemoryOffPart != nil {
		items = append(items, *f.switchMemoryOffPart)
	}
	for _, i := range items {
		act := i.add
		if edit.shouldRemoveOxbowParts {
			act = i.remove
		}
		if err := act(d, original); err != nil {
			return nil, err
		}
	}
	return joinBOM(bom, d.textBytes()), nil
}

// Apply makes the change. If the change adds or replaces text in the file, Apply first writes the record that is needed
// to undo the change. If the change removes oxbow from the file, Apply deletes this record after the file was changed.
// If the file does not need to change, Apply only deletes or updates the record.
func (c *Change) Apply() error {
	removeDraftFiles(c.realPath)
	if c.IsUnchanged() {
		if c.isRemoval {
			return c.machine.deleteRecord(c.realPath)
		}
		return c.machine.updateChoices(c.realPath, c.choices)
	}
	if !c.isRemoval {
		if err := c.machine.recordFileChange(c.realPath, c.After, c.contentWithoutOxbow, c.switchesClientMemoryOff,
			c.choices); err != nil {
			return err
		}
	}
	err := c.replaceFile()
	if err == nil && c.isRemoval {
		err = c.machine.deleteRecord(c.realPath)
	}
	return err
}

// replaceFile writes the content c.After to the file. If c.After is nil, it removes the file instead. It fails if the
// file has changed since the change was planned.
func (c *Change) replaceFile() error {
	if c.After != nil {
		return replaceFile(c.realPath, c.Before, c.After, c.mode)
	}
	dir, err := vfs.Dir(filepath.Dir(c.realPath))
	if err != nil {
		return err
	}
	defer dir.Close()
	return vfs.RemoveUnchanged(dir, filepath.Base(c.realPath), c.Before)
}

// IsFileChangedError reports whether err means that a file has changed since the change was planned. The caller should
// then plan again.
func IsFileChangedError(err error) bool { return errors.Is(err, vfs.ErrChanged) }

// IsNoProjectError reports whether err means that the client cannot be set up for a project.
func IsNoProjectError(err error) bool { return errors.Is(err, errNoProjectFile) }

// FilePaths returns the paths of a client's files, after resolving symbolic links.
func (c *Client) FilePaths(w Machine, o Options) (all []string) {
	for _, f := range c.desiredFiles(w, o) {
		if real, err := resolveLink(f.path); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// HasSetupRecord reports whether setup has changed files of the client and nobody has undone these changes.
func (c *Client) HasSetupRecord(w Machine, o Options) bool {
	return slices.ContainsFunc(c.desiredFiles(w, o), func(f clientFile) bool {
		real, err := resolveLink(f.path)
		r, rerr := w.readRecord(real)
		return err == nil && (r != nil || rerr != nil)
	})
}

// updateHookTrust updates the entries in Codex' configuration by which Codex trusts hooks. The list changes contains
// two changes: one to the hook file and one to the configuration. updateHookTrust removes the entries of hooks that no
// longer exist or have changed. If o.TrustCodexHooks is set, it adds an entry for each hook.
func updateHookTrust(w Machine, o Options, changes []*Change) error {
	hooks, config := changes[0], changes[1]
	_, text := splitBOM(config.After)
	if config.After == nil && !o.TrustCodexHooks {
		return nil
	}
	t, err := parseTOML(text)
	if err != nil {
		return err
	}
	own := w.knownOxbowPrograms(o)
	now := codexHookHashes(own, hooks.realPath, hooks.After)
	for key, hash := range codexHookHashes(own, hooks.realPath, hooks.Before) {
		if now[key] != hash && t.valueAt("hooks", "state", key) != nil {
			if err := t.removeTable("hooks", "state", key); err != nil {
				return err
			}
		}
	}
	if o.TrustCodexHooks && !config.isRemoval {
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if err := t.setFields(fields{{"trusted_hash", now[key]}}, "hooks", "state", key); err != nil {
				return err
			}
		}
	}
	if bom, _ := splitBOM(config.After); config.After != nil || len(t.text) > 0 {
		config.After = joinBOM(bom, t.text)
	}
	return nil
}
