// This file implements dump and load, which write and read the memory as a tree of Markdown files.

package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DumpIn is the argument of DumpEntries.
type DumpIn struct {
	Dir   string `json:"dir"             flag:"-" jsonschema:"The directory."`
	Force bool   `json:"force,omitempty"          jsonschema:"Dump into a directory that no dump made, or over edits that were not loaded; a copy of the edits is kept." usage:"dump even if no earlier dump made the directory, or if it contains edits that were not loaded; a copy of the edits is kept"`

	AbsoluteDir string `json:"-"` // absolute path of the directory
}

// DumpOut is the result of DumpEntries.
type DumpOut struct {
	Dir            string `json:"dir"`
	Entries        int    `json:"entries"`
	WrittenFiles   int    `json:"written"`
	UnchangedFiles int    `json:"unchanged"`
	RemovedFiles   int    `json:"removed"`
	// number of entries that were left out because the caller may not read them
	LeftOutEntries          int  `json:"withheld,omitempty"`
	HasCompletedEarlierDump bool `json:"-"` // an earlier dump was interrupted, and was completed first

	// EditedFileCopies are the paths of copies. A copy is made if a person edited a file of an earlier dump, did not
	// load the edit into the memory, and the dump now overwrites the file.
	EditedFileCopies []string `json:"kept,omitempty"`

	// EntriesWithMdbookDirectives are the names of entries in whose texts mdbook would insert local files, because a
	// person's book.toml does not forbid this.
	EntriesWithMdbookDirectives []string `json:"directives,omitempty"`
}

// DumpEntries writes entries as Markdown files to the directory in.AbsoluteDir. It writes only entries that the caller
// may read, and reports the number of other entries in LeftOutEntries. If the directory contains an earlier dump,
// DumpEntries updates the dump.
func DumpEntries(ctx context.Context, w *verb.Workspace, in DumpIn) (out DumpOut, err error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	origin, err := memoryIdentity(ctx, w, m)
	if err != nil {
		return out, err
	}
	if err := os.MkdirAll(filepath.Dir(in.AbsoluteDir), 0o700); err != nil {
		return out, fmt.Errorf("dumping to %s: %w", in.Dir, err)
	}
	fsys, err := vfs.Dir(filepath.Dir(in.AbsoluteDir))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	f, withheld, err := readableFilter(ctx, m, oxbow.Filter{})
	if err != nil {
		return out, err
	}
	r, err := mdtree.Dump(
		ctx,
		m,
		fsys,
		filepath.Base(in.AbsoluteDir),
		&mdtree.DumpOptions{
			Force:               in.Force,
			Filter:              f,
			DirNameInErrors:     in.Dir,
			DumpedStoreIdentity: origin,
			Progress:            progress.NewCountReporter(ctx, progress.UnitEntries),
		},
	)
	return DumpOut{
		Dir:                         in.Dir,
		Entries:                     r.EntryCount,
		WrittenFiles:                r.WrittenFileCount,
		UnchangedFiles:              r.UnchangedFileCount,
		RemovedFiles:                r.RemovedFileCount,
		LeftOutEntries:              withheld,
		HasCompletedEarlierDump:     r.CompletedEarlierDump,
		EditedFileCopies:            r.EditedFileCopies,
		EntriesWithMdbookDirectives: r.EntriesWithDirectives,
	}, err
}

// memoryIdentity returns the identity of the memory m. The identity is written into a dump, so that a later run can
// recognize that the dump comes from the same memory. The result also contains the functions for this comparison. A
// memory with a log is identified by its position in the log. Any other memory is identified by the path of its home.
// If a memory without a log is empty, no dump matches, because the entries may have been lost. A memory that has no
// home lacks an identity.
func memoryIdentity(ctx context.Context, w *verb.Workspace, m *oxbow.Memory) (mdtree.StoreIdentity, error) {
	seq := oxbow.CapabilitiesOf(m).Sequencer
	if seq == nil {
		p, err := w.FindPlace()
		if err != nil {
			// This memory is not a directory or a file, so nothing can identify it. The dump then names no memory as
			// its origin.
			return mdtree.StoreIdentity{}, nil
		}
		sum := sha256.Sum256([]byte(p.Dir()))
		name := "home:" + hex.EncodeToString(sum[:16])
		empty := true
		for range m.Entries(ctx, oxbow.Filter{}) {
			// Ignore the error, because the entries are read again for the dump, which then returns the error.
			empty = false
			break
		}
		return mdtree.StoreIdentity{
			Name:          name,
			IsNameOfStore: func(was string) bool { return was == name && !empty },
		}, nil
	}
	at, err := seq.Position(ctx)
	if err != nil || at == "" {
		return mdtree.StoreIdentity{IsNameOfStore: func(string) bool { return false }}, err
	}
	const prefix = "log:"
	position := func(was string) (oxbow.Position, bool) {
		b, err := hex.DecodeString(strings.TrimPrefix(was, prefix))
		return oxbow.Position(b), err == nil && oxbow.Position(b).Precedes(at)
	}
	return mdtree.StoreIdentity{
		Name: prefix + hex.EncodeToString([]byte(at)),
		IsNameOfStore: func(was string) bool {
			_, isSame := position(was)
			return isSame
		},
		ChangesSince: func(ctx context.Context, was string) iter.Seq2[oxbow.Delta, error] {
			p, _ := position(was)
			return seq.Since(ctx, p)
		},
	}, nil
}

// LoadIn is the argument of LoadFiles.
type LoadIn struct {
	Dir               string `json:"dir"                 flag:"-" jsonschema:"The directory."`
	Merge             bool   `json:"merge,omitempty"              jsonschema:"Keep entries that have no file; the default."                                 usage:"keep entries that have no file (the default)"`
	ReplaceMemory     bool   `json:"replace,omitempty"            jsonschema:"Forget entries that have no file."                                            usage:"forget entries that have no file"`
	ForgetDeleted     bool   `json:"prune,omitempty"              jsonschema:"With --replace: also forget entries whose files were deleted since the dump." usage:"with --replace: also forget entries whose files were deleted since the dump"`
	FilesWinConflicts bool   `json:"files_win,omitempty"          jsonschema:"Let the files win if the memory changed the same entries since the dump."     usage:"let the files win if the memory changed the same entries since the dump"`
	DryRun            bool   `json:"dry_run,omitempty"            jsonschema:"Show what would be changed and change nothing."                               usage:"show what would be changed and change nothing"`

	AbsoluteDir string `json:"-"` // absolute path of the directory
}

// LoadOut is the result of LoadFiles.
type LoadOut struct {
	Dir              string   `json:"dir"`
	Mode             string   `json:"mode"` // how the directory was loaded: "merge" or "replace"
	DryRun           bool     `json:"dry_run"`
	AddedNames       []string `json:"added"`
	ChangedNames     []string `json:"changed"`
	RemovedNames     []string `json:"removed"`
	UnchangedEntries int      `json:"same"`
	// names of entries that were changed in the memory after the dump was made, and whose files were not changed
	NamesChangedInMemory []string `json:"kept"`
	// names in ChangedNames of the entries in which the file's changes were merged with changes in the memory
	MergedNames []string `json:"merged,omitempty"`
	HasManifest bool     `json:"base"`           // the directory contains a dump manifest of this memory
	UndoSeq     uint64   `json:"undo,omitempty"` // number of the change (0 if it cannot be undone)
	// file with the entries that were replaced or removed (only if the load cannot be undone)
	BackupFile string   `json:"saved_in,omitempty"`
	Warnings   []string `json:"warnings"`
	// Number of files with text that was not loaded. Warnings name each text.
	PartlyReadFiles int `json:"partly_read,omitempty"`
}

// Failed reports whether a file has text that was not loaded, so that scripts notice the loss.
func (o LoadOut) Failed() bool { return o.PartlyReadFiles > 0 }

// LoadFiles changes the memory so that its entries match the tree of files in in.AbsoluteDir. A single call of undo
// cancels all these changes. Entries without a file are kept, unless in.ReplaceMemory is set. If the memory has no
// history, the entries that will be replaced or removed are first saved in the file out.BackupFile. If in.DryRun is
// set, LoadFiles only reports what it would change.
func LoadFiles(ctx context.Context, w *verb.Workspace, in LoadIn) (out LoadOut, err error) {
	out = LoadOut{Dir: in.Dir, Mode: "merge", DryRun: in.DryRun, Warnings: []string{}}
	o := &mdtree.PlanOptions{
		Mode:           mdtree.KeepEntriesWithoutFile,
		RemovesMissing: in.ForgetDeleted,
		PrefersFiles:   in.FilesWinConflicts,
	}
	if in.ReplaceMemory {
		o.Mode, out.Mode = mdtree.ReplaceMode, "replace"
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Create.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	o.Origin, err = memoryIdentity(ctx, w, m)
	if err != nil {
		return out, err
	}
	fsys, err := vfs.Dir(filepath.Dir(in.AbsoluteDir))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	tree, err := mdtree.ReadTree(
		fsys,
		filepath.Base(in.AbsoluteDir),
		&mdtree.ReadOptions{
			DirNameInErrors: in.Dir,
			SkipUnchanged:   true,
			Progress:        progress.NewCountReporter(ctx, progress.UnitFiles),
		},
	)
	if err != nil {
		return out, err
	}
	plan, err := tree.PlanLoadIntoStore(ctx, m, o)
	if err != nil {
		return out, err
	}
	groups, err := groupDependentOps(ctx, m.Store(), plan.StoreOps)
	if err != nil {
		return out, err
	}
	parts := oxbow.PartOptions{MaxBytes: w.MaxChangeBytes}
	if err := checkChangesAccepted(ctx, m.Store(), tree, in.Dir, groups, parts); err != nil {
		return out, fmt.Errorf("loading %s: %w", in.Dir, err)
	}
	// The directory is not a dump of this memory, so anybody may have written its texts. Mark the entries as imported.
	if !plan.UsedLastDumpAsBase {
		src, _ := oxbow.SourceFrom(ctx)
		src.Actor = oxbow.Imported
		ctx = oxbow.WithSource(ctx, src.WithOrigin(in.Dir))
	}
	if !in.DryRun && len(plan.StoreOps) > 0 {
		if err := out.applyPlan(oxbow.WithNote(ctx, "load from "+in.Dir), w, m, plan, groups); err != nil {
			return out, fmt.Errorf("loading %s: %w", in.Dir, err)
		}
	}
	out.AddedNames = verb.EmptyIfNil(plan.AddedNames)
	out.ChangedNames = verb.EmptyIfNil(plan.ChangedNames)
	out.RemovedNames = verb.EmptyIfNil(plan.RemovedNames)
	out.UnchangedEntries = len(plan.UnchangedNames)
	out.NamesChangedInMemory, out.HasManifest = verb.EmptyIfNil(plan.ChangedOnlyInStore), plan.UsedLastDumpAsBase
	out.MergedNames = plan.ChangedInStoreAndFile
	out.PartlyReadFiles = tree.PartlyReadFiles
	for _, t := range append(tree.Warnings, plan.Warnings...) {
		out.Warnings = append(out.Warnings, t.String())
	}
	return out, nil
}

// groupDependentOps groups ops that depend on each other, so that each group can be committed in one change. It reads
// the present size of each entry that an op replaces or removes, because the size of a change includes these entries:
// an undo of the change writes them again.
func groupDependentOps(ctx context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.OpGroup, error) {
	oldBytes := map[string]int{}
	for _, op := range ops {
		if _, isAdd := op.(oxbow.Add); isAdd {
			continue
		}
		e, err := s.Get(ctx, op.Target())
		switch {
		case err == nil:
			oldBytes[op.Target()] = oxbow.EntryBytes(&e)
		// Ignore ErrNotFound: another writer has removed the entry, so the op will fail later.
		case !errors.Is(err, oxbow.ErrNotFound):
			return nil, err
		}
	}
	return oxbow.GroupOps(ops, func(name string) int { return oldBytes[name] }), nil
}

// checkChangesAccepted returns an error if the store s would refuse the changes in groups. It does a dry run, and
// returns nil if the store cannot do dry runs. If single entries cause the refusal, the error lists the files of these
// entries. Otherwise it is the error of the dry run.
func checkChangesAccepted(
	ctx context.Context,
	s oxbow.Store,
	tree *mdtree.Tree,
	dir string,
	groups []oxbow.OpGroup,
	parts oxbow.PartOptions,
) error {
	d := oxbow.CapabilitiesOf(s).DryRunner
	if d == nil {
		return nil
	}
	all := oxbow.DryRunInParts(ctx, d, groups, parts)
	if all == nil {
		return nil
	}
	of := map[string][]oxbow.Op{}
	for _, g := range groups {
		for _, op := range g.Ops {
			of[op.Target()] = append(of[op.Target()], op)
		}
	}
	e := &mdtree.ProblemsError{Dir: dir}
	for i := range tree.Entries {
		if ops := of[tree.Entries[i].Name]; len(ops) > 0 {
			if err := d.DryRun(ctx, ops...); err != nil {
				e.AddProblem(tree.EntryPaths[i], err)
			}
		}
	}
	if len(e.Problems) == 0 {
		return all
	}
	return e
}

// applyPlan makes the planned change, whose ops are in groups. If the memory lacks a history, applyPlan first saves the
// entries that will be replaced or removed.
func (out *LoadOut) applyPlan(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
	plan mdtree.LoadPlan,
	groups []oxbow.OpGroup,
) error {
	_, noHistory := m.History()
	if lost := slices.Concat(plan.ChangedNames, plan.RemovedNames); noHistory != nil && len(lost) > 0 {
		var err error
		out.BackupFile, err = SaveEntries(
			ctx, w,
			m,
			BeforeLoadPrefix,
			oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: lost}}},
		)
		if err != nil {
			return err
		}
	}
	done, err := oxbow.CommitInParts(ctx, m, groups, oxbow.PartOptions{MaxBytes: w.MaxChangeBytes})
	if err != nil {
		return err
	}
	verb.IndexAfterLargeWrite(ctx, m, len(plan.StoreOps))
	out.UndoSeq = done.LastSeq
	return nil
}
