// This file implements the verb init, which creates a home.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// InitIn is the argument of InitHome.
type InitIn struct {
	BackupFile string `json:"from,omitempty" value:"FILE" usage:"Begin with the content of this backup."`
	BackupKeyFiles

	// OuterHome is the path of the home (the directory with a memory) that was used here until now. This home is in a
	// parent directory. It is "" if no such home exists.
	OuterHome string `json:"-"`

	// CreateLayoutFiles creates the missing files of a home in another layout, and returns their names. It is nil for
	// oxbow's own layout.
	CreateLayoutFiles func(ctx context.Context) ([]string, error) `json:"-"`
}

// InitOut is the result of InitHome.
type InitOut struct {
	Layout string `json:"dialect,omitempty"` // name of the layout ("" for oxbow's own layout)
	// files that were created because the memory uses another layout than oxbow's own
	Files []string `json:"files,omitempty"`
	Home  string   `json:"home"`
	IsNew bool     `json:"made"`            // The home did not exist before.
	Store string   `json:"store,omitempty"` // path of the store ("" in another layout)
	// Home in a parent directory that is not used here any more, because the new home is nearer.
	ParentHomeNotUsed string `json:"hidden_home,omitempty"`

	BackupFile string `json:"from,omitempty"` // backup from which the home was created ("" without one)
	EntryCount int    `json:"entries,omitempty"`
	LastSeq    uint64 `json:"last_change,omitempty"`
}

// InitHome creates a home with an empty memory. If the memory exists already, InitHome only checks that the memory can
// be opened.
//
// If in.BackupFile is set, the new memory is a copy of the memory in this backup. In this case, InitHome fails if the
// memory exists already.
//
// If the home has the layout of another memory system, InitHome creates the missing files of this layout. It cannot
// restore a backup into such a home. If in.BackupFile is set, the error matches oxbow.ErrUnsupported.
func InitHome(ctx context.Context, w *verb.Workspace, in InitIn) (InitOut, error) {
	p, err := w.FindPlace()
	if err != nil {
		return InitOut{}, err
	}
	if in.BackupFile != "" && !p.HasOwnLayout() {
		return InitOut{}, verb.Advise(
			fmt.Errorf(
				"a backup is of oxbow's own layout, and %s is laid out as %s: %w",
				p.Home,
				p.LayoutName,
				oxbow.ErrUnsupported,
			),
			"leave --dialect out",
		)
	}
	if !p.HasOwnLayout() {
		files, err := in.CreateLayoutFiles(ctx)
		return InitOut{Home: p.Home, Layout: p.LayoutName, Files: files, IsNew: len(files) > 0},
			verb.WrapError("laying out "+p.Home+" as "+p.LayoutName, err)
	}
	if fi, err := os.Stat(p.Home); err == nil && !fi.IsDir() {
		return InitOut{}, verb.Advise(
			fmt.Errorf("making the home: %s is not a directory", p.Home),
			"move it away, or choose another home with --home DIR",
		)
	}
	if in.BackupFile != "" {
		return initHomeFromBackup(ctx, w, p, in)
	}
	out, how := InitOut{Home: p.Home, Store: p.StorePath}, verb.Read
	if _, err := os.Stat(p.StorePath); errors.Is(err, fs.ErrNotExist) {
		out.IsNew = true
		out.ParentHomeNotUsed = in.OuterHome
		how = verb.Create
	}
	var m *oxbow.Memory
	ctx, m, err = w.OpenMemory(ctx, how)
	if err == nil && out.IsNew {
		err = verb.WrapError("making the store", m.Create(ctx))
	}
	return out, err
}

// initHomeFromBackup creates a home whose memory is the copy in the backup in.BackupFile. It fails if the home already
// has a store or if the backup is damaged.
func initHomeFromBackup(ctx context.Context, w *verb.Workspace, p verb.Place, in InitIn) (out InitOut, err error) {
	other := "oxbow recover " + text.ShellQuote(in.BackupFile) +
		" --replace puts it in the place of the memory there; --home DIR names another home"
	if _, err := os.Lstat(p.StorePath); err == nil {
		return out, verb.Advise(fmt.Errorf("making the home: %w: %s", fs.ErrExist, p.StorePath), other)
	}
	if err := w.Host.CheckMayWrite(p.StorePath); err != nil {
		return out, err
	}
	_, serr := os.Stat(p.Home)
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return out, verb.WrapError("making the home", err)
	}
	temp, err := restoreToTempFile(ctx, in.BackupFile, in.backupKeys(), p.StorePath)
	if err == nil {
		err = checkAndRenameStore(ctx, w, temp, p.StorePath)
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}
	if err != nil {
		if serr != nil {
			_ = os.Remove(p.Home) // This fails, as intended, if the directory is not empty.
		}
		return out, err
	}
	if err := WriteGitignore(p.Home); err != nil {
		return out, err
	}
	out = InitOut{Home: p.Home, Store: p.StorePath, IsNew: true, BackupFile: in.BackupFile}
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return out, err
	}
	// A store in this place may have existed before, with more changes. Accept that its changes are gone.
	if err := acceptLostChanges(ctx, w, m, p.StorePath); err != nil {
		return out, verb.WrapError("accepting what was restored", err)
	}
	s, err := m.Stats(ctx)
	out.EntryCount, out.LastSeq = s.Entries, s.Last
	return out, err
}
