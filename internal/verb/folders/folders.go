// This file implements the verbs that register a folder, list the registered folders, and remove a folder from the
// list.

package folders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// AddIn is the argument of Add.
type AddIn struct {
	Dir        string `json:"dir"               flag:"-" jsonschema:"The directory."`
	Name       string `json:"name,omitempty"                                         usage:"the value of the label folder, by default the directory's name"`
	WriteFiles bool   `json:"write,omitempty"                                        usage:"also write changes that are made in the memory into the files"`
	DryRun     bool   `json:"dry_run,omitempty"                                      usage:"say what would be brought in and change nothing"`

	DirPath string `json:"-"` // absolute path of the directory; if it is empty, Dir must be absolute
}

// AddOut is the result of Add.
type AddOut struct {
	DryRun          bool          `json:"dry_run,omitempty"`
	Folder          folder.Folder `json:"folder"`
	Change          FolderChange  `json:"change"`
	FileCount       int           `json:"files"`
	IsObsidianVault bool          `json:"vault,omitempty"` // the folder is a vault of Obsidian
}

// Add registers a folder and imports its notes into the memory. If the folder is already registered, Add imports the
// notes again. It then updates only one setting: whether changes in the memory are also written into the folder's
// files. Only a folder that can be read is registered.
func Add(ctx context.Context, w *verb.Workspace, in AddIn) (out AddOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "registers folders", "oxbow folder add DIR"); err != nil {
		return out, err
	}
	out.DryRun = in.DryRun
	home, err := findHome(w)
	if err != nil {
		return out, err
	}
	// Check the path, and add the folder to the list of registered folders.
	in.DirPath, err = in.resolvePath()
	if err != nil {
		return out, err
	}
	all, err := folder.ListFolders(home)
	if err != nil {
		return out, err
	}
	if err := checkFolderPath(home, in.DirPath, all); err != nil {
		return out, err
	}
	f, all, err := in.registerFolder(all, w.CurrentTime().UTC())
	if err != nil {
		return out, err
	}
	out.Folder = f
	out.IsObsidianVault = exchange.IsObsidianVault(in.DirPath)
	// Import the folder's notes into the memory. In a dry run, syncFolder only determines which notes it would import.
	c := folderSyncRun{workspace: w, home: home, dryRun: in.DryRun}
	out.Change, out.FileCount, err = c.syncFolder(ctx, f)
	if err != nil || in.DryRun {
		return out, err
	}
	if out.Change.UnavailableReason != "" {
		return out, verb.Advise(
			fmt.Errorf("reading %s: %s", in.DirPath, out.Change.UnavailableReason),
			"check the path",
		)
	}
	// Save the list last, so that the folder is not registered if importing its notes fails.
	return out, folder.SaveFolders(home, all)
}

// registerFolder adds the folder that the arguments of the call describe to all, the list of registered folders. It
// returns the new folder and the changed list. If the list contains a folder with the same path, the new folder
// replaces it, but keeps its name and the time at which it was added.
//
// registerFolder returns an error if the path is registered under another name, if another folder has the name, or if
// the name is invalid.
func (in *AddIn) registerFolder(
	all []folder.Folder,
	now time.Time,
) (f folder.Folder, changedFolders []folder.Folder, err error) {
	f = folder.Folder{Name: in.Name, Path: in.DirPath, WritesFiles: in.WriteFiles, AddedTime: now}
	i := slices.IndexFunc(all, func(f folder.Folder) bool { return f.Path == in.DirPath })
	switch {
	case i >= 0 && in.Name != "" && in.Name != all[i].Name:
		return f, nil, verb.Advise(verb.Invalidf("%s is registered as %s", in.DirPath, all[i].Name),
			"oxbow folder remove "+all[i].Name+", then add it again")
	case i >= 0:
		f.Name, f.AddedTime = all[i].Name, all[i].AddedTime
		all[i] = f
		return f, all, nil
	case f.Name == "":
		f.Name = folder.ChooseName(all, in.DirPath)
	}
	if err := folder.CheckName(f.Name); err != nil {
		return f, nil, err
	}
	if folder.FindFolder(all, f.Name) >= 0 {
		return f, nil, verb.Advise(verb.Invalidf("another folder has the name %s", f.Name), "choose one with --name")
	}
	return f, append(all, f), nil
}

// resolvePath returns the path of the directory in the arguments. If in.DirPath is set, resolvePath returns in.DirPath
// unchanged. Otherwise it returns the path in.Dir with all symbolic links resolved. It returns an error if in.Dir is a
// relative path. A relative path is ambiguous, because the server that resolves the path has another working directory
// than the caller.
func (in *AddIn) resolvePath() (string, error) {
	switch {
	case in.DirPath != "":
		return in.DirPath, nil
	case !filepath.IsAbs(in.Dir):
		return "", verb.Advise(
			verb.Invalidf("the directory %q is not a whole path", text.TruncateWithEllipsis(in.Dir, 100)),
			"begin with the top directory, as in /home/ada/vault",
		)
	}
	real, err := filepath.EvalSymlinks(in.Dir)
	if err != nil {
		return "", verb.Advise(err, "check the path")
	}
	return filepath.Clean(real), nil
}

// findHome returns the path of the home. It returns an error if the home is not a directory or does not have oxbow's
// own layout. Other layouts are not supported, because they do not record the origin of an entry.
func findHome(w *verb.Workspace) (string, error) {
	store, err := w.OwnStorePath("folder")
	if err != nil {
		return "", err
	}
	if fi, err := os.Stat(filepath.Dir(store)); err == nil && !fi.IsDir() {
		return "", verb.Invalidf("%s is not a directory", filepath.Dir(store))
	}
	return filepath.Dir(store), nil
}

// checkFolderPath returns an error if a directory cannot be registered. It must not be in the home. It also must not be
// inside another folder or contain one, because two entries would then belong to the same file.
func checkFolderPath(home, path string, all []folder.Folder) error {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return verb.Advise(err, "check the path")
	case !fi.IsDir():
		return verb.Advise(verb.Invalidf("%s is not a directory", path),
			"name the directory; for a file: oxbow import "+text.ShellQuote(path))
	case isPathWithin(home, path):
		return verb.Advise(verb.Invalidf("%s is in the home %s, which has the memory itself", path, home),
			"name a directory outside of it")
	}
	for _, f := range all {
		overlaps := isPathWithin(f.Path, path) || isPathWithin(path, f.Path)
		if f.Path != path && overlaps {
			return verb.Advise(verb.Invalidf("%s and the folder %s (%s) contain the same files", path, f.Name, f.Path),
				"oxbow folder remove "+f.Name+" if this one replaces it")
		}
	}
	return nil
}

// isPathWithin reports whether a path is dir or a path below dir.
func isPathWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// ListIn is the argument of List.
type ListIn struct{}

// ListedFolder describes a registered folder.
type ListedFolder struct {
	folder.Folder
	FileCount int `json:"files"`
	// messages about files that cannot be read, or about the folder if it cannot be read
	Problems []string `json:"problems"`
	// notes of earlier synchronizations, for example about conflicts, the newest last
	Notes []string `json:"notes"`
}

// ListOut is the result of List.
type ListOut struct {
	Folders []ListedFolder `json:"folders"`
}

// List returns the registered folders. For each folder, it returns the number of files, the problems, and notes for the
// user. List does not change the memory.
func List(ctx context.Context, w *verb.Workspace, _ ListIn) (out ListOut, err error) {
	out.Folders = []ListedFolder{}
	home, err := findHome(w)
	if err != nil {
		return out, err
	}
	all, err := folder.ListFolders(home)
	if err != nil {
		return out, err
	}
	for _, f := range all {
		st, err := folder.LoadState(home, f.Name)
		if err != nil {
			return out, err
		}
		l := ListedFolder{Folder: f, FileCount: st.FileCount(), Problems: verb.EmptyIfNil(st.Problems()),
			Notes: verb.EmptyIfNil(st.Notes())}
		c := folderSyncRun{workspace: w, home: home, dryRun: true}
		if change, _, err := c.syncFolder(ctx, f); err == nil {
			l.Problems = append(l.Problems, change.remainingProblems()...)
		}
		out.Folders = append(out.Folders, l)
	}
	return out, nil
}

// RemoveIn is the argument of Remove.
type RemoveIn struct {
	Folder      string `json:"folder"            flag:"-" jsonschema:"The folder's name or directory."`
	ForgetNotes bool   `json:"forget,omitempty"                                                        usage:"also forget the notes of the folder, except notes that were edited in the memory"`
	DryRun      bool   `json:"dry_run,omitempty"                                                       usage:"say what would be done and change nothing"`

	FolderPath string `json:"-"` // absolute path of the directory, if Folder contains a path and not a folder's name
}

// RemoveOut is the result of Remove.
type RemoveOut struct {
	DryRun         bool          `json:"dry_run,omitempty"`
	Folder         folder.Folder `json:"folder"`
	ForgottenNotes int           `json:"forgotten"`
	RemainingNotes int           `json:"stay"` // number of the folder's notes that stay in the memory
}

// Remove removes a folder from the list of registered folders. If in.ForgetNotes is set, it also forgets the entries
// that came from the folder's files, except entries that were edited in the memory. It does not change the files. Only
// a person may call it.
func Remove(ctx context.Context, w *verb.Workspace, in RemoveIn) (out RemoveOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "removes folders", "oxbow folder remove NAME"); err != nil {
		return out, err
	}
	out.DryRun = in.DryRun
	home, err := findHome(w)
	if err != nil {
		return out, err
	}
	all, err := folder.ListFolders(home)
	if err != nil {
		return out, err
	}
	i := findFolder(all, in.Folder, in.FolderPath)
	if i < 0 {
		return out, notRegisteredError(all, in.Folder)
	}
	out.Folder = all[i]
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	var groups []oxbow.OpGroup
	for e, err := range m.Entries(ctx, folderFilter(out.Folder)) {
		switch {
		case err != nil:
			return out, err
		case in.ForgetNotes && exchange.ImportFileLabelValue(e) != "" && !exchange.IsEdited(e):
			groups = append(groups, oxbow.OpGroup{
				Ops:      []oxbow.Op{oxbow.Remove{Name: e.Name, If: e.Version}},
				OldBytes: oxbow.EntryBytes(&e),
			})
			out.ForgottenNotes++
		default:
			out.RemainingNotes++
		}
	}
	if in.DryRun {
		return out, nil
	}
	ctx = oxbow.WithNote(ctx, "removal of the folder "+out.Folder.Name)
	if _, err := oxbow.CommitInParts(ctx, m, groups, oxbow.PartOptions{MaxBytes: w.MaxChangeBytes}); err != nil {
		return out, err
	}
	if err := folder.SaveFolders(home, slices.Delete(all, i, i+1)); err != nil {
		return out, err
	}
	return out, folder.RemoveState(home, out.Folder.Name)
}

// findFolder returns the index of the folder with this name or path, or -1 if such a folder does not exist.
func findFolder(all []folder.Folder, name, path string) int {
	if i := folder.FindFolder(all, name); i >= 0 || path == "" {
		return i
	}
	return folder.FindFolder(all, path)
}

// notRegisteredError returns the error for a folder that is not registered. Its advice names the registered folders.
func notRegisteredError(all []folder.Folder, name string) error {
	err := fmt.Errorf("%w: no folder %q is registered", oxbow.ErrNotFound, text.TruncateWithEllipsis(name, 100))
	if len(all) == 0 {
		return verb.Advise(err, "oxbow folder add DIR registers one")
	}
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	return verb.Advise(err, "the folders are: "+strings.Join(names, ", "))
}

// folderFilter returns the filter that selects the entries of a folder.
func folderFilter(f folder.Folder) oxbow.Filter {
	return oxbow.Filter{Terms: []oxbow.Term{{Key: folder.LabelFolder, Values: []string{f.Name}}}}
}

// Report names the registered folder, and counts the imported files and notes.
func (o AddOut) Report() (r report.Report) {
	did := "follows"
	if o.DryRun {
		did = "would follow"
	}
	r.AddLinef(
		"the memory %s %s as the folder %s: %d files, %d notes added, %d updated",
		report.OxbowText(did),
		o.Folder.Path,
		o.Folder.Name,
		o.FileCount,
		o.Change.AddedCount,
		o.Change.UpdatedCount,
	)
	o.Change.addToReport(&r)
	if o.IsObsidianVault {
		r.AddNotef("a vault of Obsidian: its #tags are tags")
	}
	if o.DryRun {
		return r
	}
	if o.Folder.WritesFiles {
		r.AddNotef("changes of these notes are written into the files, and new notes with the tag %s become files",
			o.Folder.Name)
	}
	if o.Change.HeldEntries > 0 {
		r.AddNotef(
			"%d notes wait for your approval before agents get them unasked: oxbow approve",
			o.Change.HeldEntries,
		)
	}
	r.AddNotef("to take this back: oxbow folder remove %s --forget", report.OxbowText(text.ShellQuote(o.Folder.Name)))
	return r
}

// Report lists the folders with their problems and notes.
func (o ListOut) Report() (r report.Report) {
	if len(o.Folders) == 0 {
		r.AddNotef("no folder is registered; oxbow folder add DIR registers one")
		return r
	}
	for _, f := range o.Folders {
		how := "read only"
		if f.WritesFiles {
			how = "read and written"
		}
		r.Add(report.Record{Key: f.Name, Cells: []report.Cell{
			{
				Value: f.Path,
			}, {Value: report.OxbowText(text.FormatCount(f.FileCount, "file", "files"))},
			{Value: report.OxbowText(how)}}})
		for _, p := range f.Problems {
			r.Warnf("%s: %s", f.Name, p)
		}
		for _, n := range f.Notes {
			r.AddNotef("%s: %s", f.Name, n)
		}
	}
	return r
}

// Report says which folder was removed, and what happened to its notes.
func (o RemoveOut) Report() (r report.Report) {
	did := "no longer follows"
	if o.DryRun {
		did = "would no longer follow"
	}
	r.AddLinef("the memory %s %s", report.OxbowText(did), o.Folder.Path)
	if o.ForgottenNotes > 0 {
		r.AddLinef("%s %s", report.OxbowText(text.FormatCount(o.ForgottenNotes, "note", "notes")),
			report.OxbowText(map[bool]string{false: "forgotten", true: "would be forgotten"}[o.DryRun]))
	}
	if o.RemainingNotes > 0 {
		r.AddLinef("%s in the memory", report.OxbowText(text.FormatCount(o.RemainingNotes, "note stays", "notes stay")))
	}
	if o.ForgottenNotes > 0 && !o.DryRun {
		r.AddNotef("undo the forgetting with: oxbow undo")
	}
	return r
}
