// Making a home.

package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow"
)

// InitIn is what init takes.
type InitIn struct {
	// LayOut makes the files of a home of another layout, and returns the names
	// of those that were not there.
	LayOut func(ctx context.Context) ([]string, error) `json:"-"`
}

// InitOut is what init gives.
type InitOut struct {
	Layout string   `json:"dialect,omitempty"` // unless it is oxbow's own
	Files  []string `json:"files,omitempty"`   // that were made, of another layout
	Home   string   `json:"home"`
	Made   bool     `json:"made"`            // it was not there
	Store  string   `json:"store,omitempty"` // of oxbow's own layout
}

// Init makes the home, and an empty memory in it. One that is there stays as it
// is; it must open.
func Init(ctx context.Context, w *Workspace, in InitIn) (InitOut, error) {
	p, err := w.place()
	if err != nil {
		return InitOut{}, err
	}
	if !p.Own() {
		files, err := in.LayOut(ctx)
		return InitOut{Home: p.Home, Layout: p.Layout, Files: files, Made: len(files) > 0},
			wrapped("laying out "+p.Home+" as "+p.Layout, err)
	}
	if fi, err := os.Stat(p.Home); err == nil && !fi.IsDir() {
		return InitOut{}, Advise(fmt.Errorf("making the home: %s is not a directory", p.Home), "move it away, or choose another home with --home DIR")
	}
	out, how := InitOut{Home: p.Home, Store: p.Store}, Read
	if _, err := os.Stat(p.Store); errors.Is(err, fs.ErrNotExist) {
		out.Made, how = true, Create
	}
	var m *oxbow.Memory
	if ctx, m, err = w.Memory(ctx, how); err == nil && out.Made {
		err = wrapped("making the store", m.Create(ctx))
	}
	return out, err
}
