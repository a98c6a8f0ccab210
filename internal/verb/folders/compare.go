// This file imports changes in the files of folders into the memory.

package folders

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
	"github.com/oxbow-memory/oxbow/vfs"
)

// SyncIn is the argument of Sync.
type SyncIn struct {
	Folder        string `json:"folder,omitempty"  flag:"-" jsonschema:"The folder's name or directory; all if it is omitted."`
	ForgetMissing bool   `json:"prune,omitempty"                                                                               usage:"forget the notes of all missing files, because you deleted these files on purpose"`
	DryRun        bool   `json:"dry_run,omitempty"                                                                             usage:"say what would be changed and change nothing"`

	FolderPath string `json:"-"` // absolute path of the directory, if Folder is a directory's path

	// OnlyIfFilesChanged makes the call do nothing unless a file of the folder has changed. The memory then need not be
	// opened. Changes in the memory are then not written to files by this call, but by a later call.
	OnlyIfFilesChanged bool `json:"-"`
}

// FolderChange describes the changes that a call of Sync has made for one folder.
type FolderChange struct {
	Folder           string `json:"folder"`
	AddedCount       int    `json:"added"`
	UpdatedCount     int    `json:"updated"`
	ForgottenNotes   int    `json:"forgotten"`
	WrittenFileCount int    `json:"written"` // number of files that were written
	HeldEntries      int    `json:"held,omitempty"`

	Problems []string `json:"problems"` // messages about files that could not be read or written
	Notes    []string `json:"notes"`

	// KeptMissingFiles is the number of missing files whose notes were kept, because the files may be missing without
	// having been deleted. WithheldReason says why.
	KeptMissingFiles  int    `json:"withheld,omitempty"`
	WithheldReason    string `json:"reason,omitempty"`
	UnavailableReason string `json:"unavailable,omitempty"` // why the folder could not be read, or ""
}

// SyncOut is the result of Sync.
type SyncOut struct {
	DryRun  bool           `json:"dry_run,omitempty"`
	Changes []FolderChange `json:"changes"` // one element for each folder
}

// Sync imports the changed files of registered folders into the memory. If in.Folder is set, it imports only this
// folder. Otherwise it imports all registered folders. If a folder is registered for writing, Sync also writes changes
// in the memory to the folder's files. Sync does not open the memory if no file has changed and no folder is registered
// for writing (see also [SyncIn.OnlyIfFilesChanged]). Only a person may set in.ForgetMissing.
func Sync(ctx context.Context, w *verb.Workspace, in SyncIn) (out SyncOut, err error) {
	out.DryRun, out.Changes = in.DryRun, []FolderChange{}
	if in.ForgetMissing {
		if err := verb.RequirePerson(w.WithSource(ctx), "confirms that files were deleted",
			"oxbow folder sync --prune"); err != nil {
			return out, err
		}
	}
	home, err := findHome(w)
	if err != nil {
		return out, err
	}
	all, err := folder.ListFolders(home)
	if err != nil {
		return out, err
	}
	if in.Folder != "" {
		i := findFolder(all, in.Folder, in.FolderPath)
		if i < 0 {
			return out, notRegisteredError(all, in.Folder)
		}
		all = all[i : i+1]
	}
	c := folderSyncRun{
		workspace:               w,
		home:                    home,
		dryRun:                  in.DryRun,
		forgetsMissingFiles:     in.ForgetMissing,
		syncsOnlyIfFilesChanged: in.OnlyIfFilesChanged,
	}
	for _, f := range all {
		change, _, err := c.syncFolder(ctx, f)
		out.Changes = append(out.Changes, change)
		if err != nil {
			return out, fmt.Errorf("comparing the folder %s: %w", f.Name, err)
		}
	}
	return out, nil
}

// folderSyncRun is the state of one Sync call.
type folderSyncRun struct {
	workspace           *verb.Workspace
	home                string
	dryRun              bool
	forgetsMissingFiles bool

	syncsOnlyIfFilesChanged bool // see [SyncIn.OnlyIfFilesChanged]
}

// syncFolder synchronizes one folder with the memory, and returns the changes and the number of files in the folder. If
// the folder cannot be read at the moment, err is nil and ch.UnavailableReason says why.
func (c *folderSyncRun) syncFolder(ctx context.Context, f folder.Folder) (ch FolderChange, fileCount int, err error) {
	ch = FolderChange{Folder: f.Name, Problems: []string{}, Notes: []string{}}
	st, err := folder.LoadState(c.home, f.Name)
	if err != nil {
		return ch, 0, err
	}
	fsys, cmp, err := c.listFolder(ctx, f, st)
	if errors.Is(err, folder.ErrUnavailable) {
		ch.UnavailableReason = err.Error()
		return ch, st.FileCount(), nil
	}
	if err != nil {
		return ch, 0, err
	}
	defer fsys.Close()
	ch.Problems = append(ch.Problems, cmp.NewProblems...)
	ch.KeptMissingFiles, ch.WithheldReason = len(cmp.UnconfirmedDeletions), cmp.UnconfirmedReason
	s := folderSync{
		folderSyncRun:    c,
		folder:           f,
		fsys:             fsys,
		comparison:       cmp,
		change:           &ch,
		folderOriginPath: c.originPathPrefix(f),
	}
	if !cmp.IsEmpty() {
		if err := s.importFileChanges(ctx); err != nil {
			return ch, 0, err
		}
	}
	if c.dryRun {
		return ch, cmp.State.FileCount(), nil
	}
	mayWriteBack := !c.syncsOnlyIfFilesChanged || !cmp.IsEmpty()
	if f.WritesFiles && mayWriteBack {
		if err := s.writeEntriesBack(ctx); err != nil {
			return ch, 0, err
		}
	}
	cmp.AddStateNotes(ch.Notes...)
	return ch, cmp.State.FileCount(), cmp.SaveState(c.home, f.Name)
}

// listTimeout is the maximum time for listing a folder. An unresponsive file server must not block every use of the
// memory.
const listTimeout = 10 * time.Second

// listFolder opens a folder and compares its files with the state at the last synchronization. The error matches
// [folder.ErrUnavailable] if the folder cannot be read, or not within listTimeout. The caller must close fsys.
func (c *folderSyncRun) listFolder(
	ctx context.Context,
	f folder.Folder,
	st *folder.State,
) (fsys *vfs.OS, cmp *folder.FolderComparison, err error) {
	ctx, stop := context.WithTimeout(ctx, listTimeout)
	defer stop()
	type listed struct {
		fsys *vfs.OS
		cmp  *folder.FolderComparison
	}
	now := c.workspace.CurrentTime()
	got, err := runWithTimeout(ctx, func() (listed, error) {
		fsys, err := vfs.Dir(f.Path)
		if err != nil {
			return listed{}, fmt.Errorf("%w: %w", folder.ErrUnavailable, err)
		}
		cmp, err := folder.Compare(fsys, st, folder.Options{Now: now, PruneMissingFiles: c.forgetsMissingFiles})
		if err != nil {
			return listed{}, errors.Join(err, fsys.Close())
		}
		return listed{fsys, cmp}, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: its disk does not answer", folder.ErrUnavailable)
	}
	return got.fsys, got.cmp, err
}

// runWithTimeout calls fn in a goroutine and returns its result. If ctx is done first, the result is the error of ctx.
// fn then continues to run, and its result is ignored.
func runWithTimeout[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := fn()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// originPathPrefix returns the path of the folder f for the labels that record an entry's origin. In such a label, the
// path is followed by the name of a file in the folder. If the home belongs to a project that contains the folder, the
// path is relative to the project's directory. Otherwise, or if the folder is the project's directory itself, the path
// is absolute.
func (c *folderSyncRun) originPathPrefix(f folder.Folder) string {
	if filepath.Base(c.home) != ".oxbow" {
		return filepath.ToSlash(f.Path)
	}
	root := filepath.Dir(c.home)
	rel, err := filepath.Rel(root, f.Path)
	isInProject := err == nil && filepath.IsLocal(rel)
	if isInProject && rel != "." {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(f.Path)
}

// folderSync is the synchronization of one folder that has changed.
type folderSync struct {
	*folderSyncRun
	folder           folder.Folder
	fsys             vfs.FS
	comparison       *folder.FolderComparison
	change           *FolderChange
	folderOriginPath string // path with which entries refer to the folder (see [folderSyncRun.originPathPrefix])
}

// fileOriginPath returns the path by which entries refer to a file of the folder.
func (s *folderSync) fileOriginPath(file string) string { return s.folderOriginPath + "/" + file }

// originLabel returns the value of the label that says from which file an entry was imported.
func (s *folderSync) originLabel(file string) string {
	return exchange.OriginLabelValue(s.fileOriginPath(file))
}

// newImportContext returns a context for changes that import the folder's files into the memory. Such a change records
// that it is an import, and the path of the folder.
func (s *folderSync) newImportContext(ctx context.Context) context.Context {
	src, _ := oxbow.SourceFrom(ctx)
	src.Actor = oxbow.Imported
	ctx = oxbow.WithSource(ctx, src.WithOrigin(s.folderOriginPath))
	return oxbow.WithNote(ctx, text.TruncateWithEllipsis("changes in the folder "+s.folder.Path, 200))
}

// importFileChanges updates the memory for files that are new, changed, renamed or deleted.
func (s *folderSync) importFileChanges(ctx context.Context) error {
	ctx, m, err := s.workspace.OpenMemory(ctx, verb.Create.UnlessDryRun(s.dryRun))
	if err != nil {
		return err
	}
	if err := s.moveRenamedEntries(ctx, m); err != nil {
		return err
	}
	stale, err := s.importFiles(ctx)
	if err != nil {
		return err
	}
	return s.forgetStaleEntries(ctx, m, stale)
}

// moveRenamedEntries updates the labels of entries whose files were renamed, so that the entries belong to the files
// with the new names. These files are also added to s.comparison.ChangedFiles. If the file with the new name already
// has entries, nothing is moved, and the file with the old name counts as deleted.
func (s *folderSync) moveRenamedEntries(ctx context.Context, m *oxbow.Memory) error {
	if len(s.comparison.RenamedFiles) == 0 {
		return nil
	}
	to := map[string]string{}
	for old, name := range s.comparison.RenamedFiles {
		to[s.originLabel(old)] = name
	}
	var ops []oxbow.Op
	// the labels, as returned by ImportFileLabelValue, that name the files of existing entries
	hasEntries := map[string]bool{}
	var moved []oxbow.Entry
	for e, err := range m.Entries(ctx, folderFilter(s.folder)) {
		if err != nil {
			return err
		}
		hasEntries[exchange.ImportFileLabelValue(e)] = true
		if to[exchange.ImportFileLabelValue(e)] != "" {
			moved = append(moved, e.Clone())
		}
	}
	for _, e := range moved {
		name := to[exchange.ImportFileLabelValue(e)]
		if hasEntries[s.originLabel(name)] {
			// Do not move the entry of the old file. The new file was a copy of the old file, so the memory already has
			// an entry for it.
			continue
		}
		marked := exchange.LabelsWithImportLabels(e, s.fileOriginPath(name))
		labels := exchange.ReplaceImportLabels(e.Labels, marked)
		if exchange.IsEdited(e) {
			labels = replaceLabelValue(
				e.Labels,
				exchange.LabelImportFile,
				s.originLabel(name),
				// If the entry was edited after the import, replace only the file's name in the label. Keep the hash of
				// the text that was imported.
			)
		}
		ops = append(ops, oxbow.Relabel{Name: e.Name, Labels: labels, If: e.Version})
	}
	for old, name := range s.comparison.RenamedFiles {
		if hasEntries[s.originLabel(name)] {
			s.comparison.DeletedFiles = append(s.comparison.DeletedFiles, old)
		} else if !slices.Contains(s.comparison.ChangedFiles, name) {
			s.comparison.ChangedFiles = append(s.comparison.ChangedFiles, name)
		}
	}
	if len(ops) == 0 || s.dryRun {
		return nil
	}
	return m.Apply(s.newImportContext(ctx), ops...)
}

// replaceLabelValue returns the labels, sorted. Each label with the key gets the given value.
func replaceLabelValue(labels []oxbow.Label, key, value string) []oxbow.Label {
	labels = slices.Clone(labels)
	for i := range labels {
		if labels[i].Key == key {
			labels[i].Value = value
		}
	}
	return oxbow.SortLabels(labels)
}

// importFiles imports the changed files. It returns the names of entries whose text these files no longer contain.
func (s *folderSync) importFiles(ctx context.Context) (staleNames []string, err error) {
	if len(s.comparison.ChangedFiles) == 0 {
		return nil, nil
	}
	out, err := transfer.Import(ctx, s.workspace, transfer.ImportIn{
		Items: func(ctx context.Context, zone *time.Location) iter.Seq2[exchange.Item, error] {
			return s.changedItems(ctx, zone)
		},
		ChangeNote: "changes in the folder " + s.folder.Path,
		DryRun:     s.dryRun, FollowFolder: true, OmitChanges: true,
	})
	s.change.AddedCount = out.AddedEntryCount
	s.change.UpdatedCount = out.UpdatedEntryCount
	s.change.HeldEntries = out.QuarantinedEntryCount
	s.change.Problems = append(s.change.Problems, out.Problems...)
	s.change.Notes = append(s.change.Notes, out.Notes...)
	return out.StaleEntries, err
}

// changedItems yields the items in the changed files. Each item has the label of the folder.
func (s *folderSync) changedItems(ctx context.Context, zone *time.Location) iter.Seq2[exchange.Item, error] {
	o := &exchange.ReadOptions{
		Context:  ctx,
		Location: zone,
		BasePath: s.folderOriginPath,
		Format:   exchange.DetectNoteFormat(s.fsys, "."),
	}
	return func(yield func(exchange.Item, error) bool) {
		for it, err := range exchange.ReadFiles(s.fsys, s.comparison.ChangedFiles, o) {
			if err == nil {
				it = s.addOriginLabel(it)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// addOriginLabel returns the item with the label of the folder. If the item has too many labels, the folder's label
// is left out.
func (s *folderSync) addOriginLabel(item exchange.Item) exchange.Item {
	l := oxbow.Label{Key: folder.LabelFolder, Value: s.folder.Name}
	others := slices.DeleteFunc(slices.Clone(item.Entry.Labels), func(o oxbow.Label) bool { return o.Key == l.Key })
	// Leave room for four labels, because the import may add up to four labels to the entry.
	if len(others) < oxbow.MaxLabels-4 {
		item.Entry.Labels = oxbow.SortLabels(append(others, l))
	}
	return item
}

// forgetStaleEntries forgets the entries of deleted files, and the entries in staleNames. If an entry was edited in
// the memory, it is kept, and a note says so.
func (s *folderSync) forgetStaleEntries(ctx context.Context, m *oxbow.Memory, staleNames []string) error {
	if len(s.comparison.DeletedFiles)+len(staleNames) == 0 {
		return nil
	}
	gone := map[string]string{}
	for _, file := range s.comparison.DeletedFiles {
		gone[s.originLabel(file)] = file
	}
	var ops []oxbow.Op
	for e, err := range m.Entries(ctx, folderFilter(s.folder)) {
		if err != nil {
			return err
		}
		file, isGone := gone[exchange.ImportFileLabelValue(e)]
		isStale := slices.Contains(staleNames, e.Name)
		switch {
		case !isGone && !isStale:
		case !exchange.IsEdited(e):
			ops = append(ops, oxbow.Remove{Name: e.Name, If: e.Version})
		case isGone:
			s.change.Notes = append(s.change.Notes, fmt.Sprintf(
				"%s was deleted, and %q was edited in the memory, so it stays there", s.fileOriginPath(file), e.Name))
		default:
			s.change.Notes = append(s.change.Notes, fmt.Sprintf(
				"%s no longer has the text of %q, which was edited in the memory, so it stays there",
				exchange.ImportFileLabelValue(e),
				e.Name,
			))
		}
	}
	s.change.ForgottenNotes = len(ops)
	if len(ops) == 0 || s.dryRun {
		return nil
	}
	if err := m.Apply(s.newImportContext(ctx), ops...); err != nil {
		return err
	}
	verb.IndexAfterLargeWrite(ctx, m, len(ops))
	return nil
}

// remainingProblems returns messages about problems that remain: a folder that cannot be read, and missing files whose
// notes were not forgotten.
func (c *FolderChange) remainingProblems() (messages []string) {
	if c.UnavailableReason != "" {
		messages = append(messages, c.UnavailableReason+"; its notes stay as they are")
	}
	if c.KeptMissingFiles > 0 {
		messages = append(messages, fmt.Sprintf(
			"%s, so none was forgotten; if they were deleted on purpose: oxbow folder sync %s --prune",
			c.WithheldReason, text.ShellQuote(c.Folder)))
	}
	return messages
}

// IsEmpty reports whether nothing was changed and a person need not be told anything.
func (c *FolderChange) IsEmpty() bool {
	return c.AddedCount+c.UpdatedCount+c.ForgottenNotes+c.WrittenFileCount+c.KeptMissingFiles+len(
		c.Problems,
	)+len(
		c.Notes,
	) == 0 &&
		c.UnavailableReason == ""
}

// Messages returns all warnings, problems and notes, for a person.
func (c *FolderChange) Messages() []string {
	return slices.Concat(c.remainingProblems(), c.Problems, c.Notes)
}

// addToReport adds the warnings and notes to a report.
func (c *FolderChange) addToReport(r *report.Report) {
	for _, said := range slices.Concat(c.remainingProblems(), c.Problems) {
		r.Warnf("%s", said)
	}
	for _, n := range c.Notes {
		r.AddNotef("%s", n)
	}
}

// Report describes the changes for each folder.
func (o SyncOut) Report() (r report.Report) {
	if len(o.Changes) == 0 {
		r.AddNotef("no folder is registered; oxbow folder add DIR registers one")
	}
	changed := 0
	for _, c := range o.Changes {
		verbWord := "brought in"
		if o.DryRun {
			verbWord = "would bring in"
		}
		r.AddLinef("%s: %s %d added, %d updated, %d forgotten; %d files written",
			c.Folder, report.OxbowText(verbWord), c.AddedCount, c.UpdatedCount, c.ForgottenNotes, c.WrittenFileCount)
		c.addToReport(&r)
		changed += c.AddedCount + c.UpdatedCount + c.ForgottenNotes
	}
	if changed > 0 && !o.DryRun {
		r.AddNotef("undo the last change with: oxbow undo")
	}
	return r
}
