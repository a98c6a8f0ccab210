// This file implements mirroring, which imports the notes that a client keeps in its own memory.

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mirroredClientsFile is the name of a file in a home, which is a memory's directory. The file lists the clients whose
// own memory files oxbow imports into the memory (mirrors).
const mirroredClientsFile = "mirror.json"

// memoryImportTimes records how far oxbow has imported the notes in the memory files of clients such as Claude Code. It
// has two kinds of keys. The key for a client is its name, and the value is the modification time of the newest
// imported file. The key for a changed file is its path, and the value is the time of the change. Such an entry exists
// until a hook reports the call that changed the file.
type memoryImportTimes map[string]time.Time

func readMemoryImportTimes(home string) (m memoryImportTimes, err error) {
	m = memoryImportTimes{}
	b, err := os.ReadFile(filepath.Join(home, mirroredClientsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err == nil:
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Join(home, mirroredClientsFile), err)
	}
	return m, err
}

// save writes m to the file mirror.json in the directory home. If m is empty, it deletes the file.
func (m memoryImportTimes) save(home string) error {
	if len(m) == 0 {
		return os.Remove(filepath.Join(home, mirroredClientsFile))
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	dir, err := vfs.Dir(home)
	if err != nil {
		return err
	}
	defer dir.Close()
	return vfs.WriteFile(dir, mirroredClientsFile, append(b, '\n'), 0o600)
}

// HasMirroredClients reports whether the memory of at least one client is copied into the home. It checks whether the
// home contains the file with the list of such clients.
func HasMirroredClients(home string) bool {
	_, err := os.Stat(filepath.Join(home, mirroredClientsFile))
	return err == nil
}

// If a file was changed less than modTimeUncertaintyPeriod ago, a further change may leave the modification time
// unchanged.
const modTimeUncertaintyPeriod = 2 * time.Second

// MirrorClientMemoryIn is the argument of MirrorClientMemory.
type MirrorClientMemoryIn struct {
	Client        string        `json:"client"`
	ClientMachine setup.Machine `json:"-"`
	// returns the name of the project to which a directory belongs (may be nil)
	Project func(dir string) string `json:"-"`

	// SessionStart is an event that a hook of a running session has reported, or nil. ListForeignTexts returns the
	// names of texts by others that the session has read since the person's last prompt. Files in the list own do not
	// count as texts by others.
	SessionStart     *session.Event              `json:"-"`
	ListForeignTexts func(own []string) []string `json:"-"`
}

// MirrorClientMemory imports the changes that were made in the memory files of an AI client since the last call. It
// does so only if the client was set up with mirroring. It does not write to the client's files, and it does not
// replace a note that was edited in oxbow's memory.
//
// Changes after the first import are marked as tainted, because text by others may have influenced them. There is one
// exception. The change of a file is not marked if the client reported that one of its own calls wrote the file, and if
// the model had not read text by others in the same turn.
func MirrorClientMemory(
	ctx context.Context,
	w *verb.Workspace,
	in MirrorClientMemoryIn,
) (out transfer.ImportOut, err error) {
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	known, err := readMemoryImportTimes(p.Dir())
	if err != nil {
		return out, err
	}
	seen, isMirrored := known[in.Client]
	client := setup.FindClient(in.Client)
	if !isMirrored || client == nil {
		return out, nil
	}
	m := memoryMirrorRun{
		workspace:   w,
		arguments:   in,
		allFiles:    client.MemoryFiles(in.ClientMachine),
		newestTime:  seen,
		mirrorTimes: known,
	}
	newest := seen
	for _, f := range m.allFiles {
		if f.Time.After(seen) {
			m.changedFiles = append(m.changedFiles, f)
		}
		if f.Time.After(newest) {
			newest = f.Time
		}
	}
	if len(m.changedFiles) == 0 {
		return out, nil
	}
	young := w.CurrentTime().Add(-modTimeUncertaintyPeriod)
	if seen.IsZero() {
		err = m.importFiles(ctx, m.changedFiles, nil)
	} else {
		err = m.importChangedFiles(ctx, young)
	}
	if newest.After(young) {
		newest = young
	}
	if err != nil {
		return m.out, err
	}
	known[in.Client] = newest
	return m.out, known.save(p.Dir())
}

// memoryMirrorRun is the state of one MirrorClientMemory call.
type memoryMirrorRun struct {
	workspace              *verb.Workspace
	arguments              MirrorClientMemoryIn
	allFiles, changedFiles []setup.MemoryFile
	newestTime             time.Time
	mirrorTimes            memoryImportTimes
	out                    transfer.ImportOut
}

// importChangedFiles imports the client's memory files that have changed. It imports the files that the hook has
// reported as written last, because their trust depends on the remaining files: the agent may have read those before it
// wrote the reported files. The argument reportCutoffTime is passed to importUnreportedFile.
func (m *memoryMirrorRun) importChangedFiles(ctx context.Context, reportCutoffTime time.Time) error {
	var named []setup.MemoryFile
	for _, f := range m.changedFiles {
		if r := m.arguments.SessionStart; r != nil && r.WritesFile(f.Path) {
			named = append(named, f)
			continue
		}
		if err := m.importUnreportedFile(ctx, f, reportCutoffTime); err != nil {
			return err
		}
	}
	for _, f := range named {
		own, err := m.listSafeFiles(ctx, nil)
		if err != nil {
			return err
		}
		taints := m.arguments.ListForeignTexts(own)
		if at, ok := m.mirrorTimes[f.Path]; ok && !at.Equal(f.Time) {
			// Somebody edited the file before the call that the hook has reported, so the notes may contain text by
			// others.
			taints = append(taints, editTaintLabelValue(f.Path))
		}
		if err := m.importFiles(ctx, []setup.MemoryFile{f}, taints); err != nil {
			return err
		}
	}
	return nil
}

// importUnreportedFile imports the memory file f, which has changed although no hook has reported the change. It
// searches the archive of sessions for a tool call that wrote the file. If it finds none, a hook may still report the
// call. In this case, importUnreportedFile postpones the import to a later call of MirrorClientMemory, provided that a
// session is running (m.arguments.SessionStart is set) and that the file was changed after reportCutoffTime.
func (m *memoryMirrorRun) importUnreportedFile(
	ctx context.Context,
	f setup.MemoryFile,
	reportCutoffTime time.Time,
) error {
	own, err := m.listSafeFiles(ctx, &f)
	if err != nil {
		return err
	}
	taints, wrote, err := m.findArchivedWrite(ctx, f, own)
	at, waited := m.mirrorTimes[f.Path]
	switch {
	case err != nil:
		return err
	case !wrote && m.arguments.SessionStart != nil && f.Time.After(reportCutoffTime):
		return m.postponeFile(ctx, f)
	case !wrote || (waited && !at.Equal(f.Time)):
		taints = append(taints, editTaintLabelValue(f.Path))
	}
	return m.importFiles(ctx, []setup.MemoryFile{f}, taints)
}

// postponeFile leaves a file to a later call of MirrorClientMemory if importing it would add or update a note.
func (m *memoryMirrorRun) postponeFile(ctx context.Context, f setup.MemoryFile) error {
	read, err := m.makeImportArgument(ctx, []setup.MemoryFile{f}, m.findStoredProject)
	if err != nil {
		return err
	}
	read.DryRun = true
	got, err := transfer.Import(ctx, m.workspace, read)
	if _, waits := m.mirrorTimes[f.Path]; !waits && got.AddedEntryCount+got.UpdatedEntryCount > 0 {
		m.mirrorTimes[f.Path] = f.Time
	}
	return err
}

// findArchivedWrite searches the archive of sessions for tool calls that have written the file f. It considers the
// calls between m.newestTime and the time of f. The result foundWrite is true if one of these calls made the latest
// change of the file. The result taints contains labels for texts by other authors that the agent had read before it
// wrote the file. Calls that only read files in the list ownFiles do not add labels, because these files contain the
// agent's own texts. If the workspace has no archive of sessions, the results are nil and false.
func (m *memoryMirrorRun) findArchivedWrite(
	ctx context.Context,
	f setup.MemoryFile,
	ownFiles []string,
) (taints []string, foundWrite bool, err error) {
	if m.workspace.Sessions == nil {
		return nil, false, nil
	}
	_, a, err := m.workspace.OpenArchive(ctx)
	if err != nil {
		return nil, false, err
	}
	return a.CheckFileWrite(ctx, m.arguments.Client, f.Path, m.newestTime, f.Time, ownFiles)
}

// listSafeFiles returns the paths of the client's memory files that contain no text by others as far as oxbow knows. An
// agent that has read only such a file is not regarded as influenced by others. A file is left out if a note that was
// imported from it is held back, or if its path is too long for a label. If exceptFile is not nil, all changed files
// except *exceptFile are left out as well, because their changes still have to be examined.
func (m *memoryMirrorRun) listSafeFiles(ctx context.Context, exceptFile *setup.MemoryFile) ([]string, error) {
	ctx, mem, err := m.workspace.OpenMemory(ctx, verb.Create)
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	flagged := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: oxbow.WithoutLabels.HeldLabels()}}}
	for e, err := range mem.Entries(ctx, flagged) {
		if err != nil {
			return nil, err
		}
		for _, origin := range e.Values(exchange.LabelImportFile) {
			held[origin] = true
		}
	}
	var own []string
	for _, f := range m.allFiles {
		isOpen := exceptFile != nil && f != *exceptFile && slices.Contains(m.changedFiles, f)
		if isOpen || held[f.Path] {
			continue
		}
		// Leave out a longer path, because a label with the path would be cut and could not be compared with the path.
		if len(f.Path) <= oxbow.MaxName {
			own = append(own, f.Path)
		}
	}
	return own, nil
}

// editTaintLabelValue returns a label value which says that others may have edited the file from which a note comes.
func editTaintLabelValue(file string) string {
	s := "edit " + filepath.Base(file)
	if (oxbow.Label{Key: oxbow.LabelTaint, Value: s}).Check() != nil {
		return "edit of a file"
	}
	return s
}

// importFiles imports the notes in a client's memory files and adds the counts to m.out. New and changed notes get the
// labels in taintLabels. These labels name texts by others that may have influenced the notes. If taintLabels is empty,
// the notes are assigned to the project to which the client's file belongs. Otherwise each note keeps the project under
// which the note is already stored. importFiles also deletes the files' entries in m.mirrorTimes.
func (m *memoryMirrorRun) importFiles(ctx context.Context, files []setup.MemoryFile, taintLabels []string) error {
	project := m.clientProject
	if len(taintLabels) > 0 {
		project = m.findStoredProject
	}
	read, err := m.makeImportArgument(ctx, files, project)
	if err != nil {
		return err
	}
	for _, f := range files {
		delete(m.mirrorTimes, f.Path)
	}
	got, err := transfer.Import(verb.WithTaintLabels(ctx, taintLabels), m.workspace, read)
	m.out.AddedEntryCount = m.out.AddedEntryCount + got.AddedEntryCount
	m.out.UpdatedEntryCount = m.out.UpdatedEntryCount + got.UpdatedEntryCount
	m.out.QuarantinedEntryCount = m.out.QuarantinedEntryCount + got.QuarantinedEntryCount
	m.out.Problems = append(m.out.Problems, got.Problems...)
	return err
}

// makeImportArgument returns the argument with which [transfer.Import] imports a client's memory files. It calls
// projectOf for the project of each file, and fails if projectOf fails.
func (m *memoryMirrorRun) makeImportArgument(
	ctx context.Context,
	files []setup.MemoryFile,
	projectOf func(context.Context, setup.MemoryFile) (string, error),
) (transfer.ImportIn, error) {
	read := transfer.ImportIn{Author: oxbow.Agent, FormatByPath: map[string]exchange.Format{},
		ProjectByPath: map[string]string{}}
	for _, f := range files {
		project, err := projectOf(ctx, f)
		if err != nil {
			return read, err
		}
		read.Paths, read.ProjectByPath[f.Path] = append(read.Paths, f.Path), project
		read.FormatByPath[f.Path] = exchange.Markdown
	}
	return read, nil
}

// findStoredProject returns the project for the notes in the memory file f. If notes were imported from this file
// before, it is the project of these notes, so that no note moves to another project. Otherwise it is the project to
// which the file belongs.
func (m *memoryMirrorRun) findStoredProject(ctx context.Context, f setup.MemoryFile) (string, error) {
	ctx, mem, err := m.workspace.OpenMemory(ctx, verb.Create)
	if err != nil {
		return "", err
	}
	imported := oxbow.Filter{Terms: []oxbow.Term{{Key: exchange.LabelImportFile, Values: []string{f.Path}}}}
	hits, err := mem.Recall(ctx, oxbow.Query{Limit: 1, Filter: imported})
	if err != nil {
		return "", err
	}
	if len(hits) > 0 {
		project, _ := hits[0].Entry.Label(oxbow.LabelProject)
		return project, nil
	}
	return m.clientProject(ctx, f)
}

// clientProject returns the name of the project to which a memory file of the client belongs, or "" if the project is
// unknown.
func (m *memoryMirrorRun) clientProject(_ context.Context, f setup.MemoryFile) (string, error) {
	if dir := f.Dir(); m.arguments.Project != nil && dir != "" {
		return m.arguments.Project(dir), nil
	}
	return "", nil
}
