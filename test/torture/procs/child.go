//go:build unix

// This file implements the child process that uses the library. It uses the library in the same way as a program that
// embeds the library.

package procs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// storeFile is the name of the store in its home. It is the same name as in the real program.
const storeFile = "memory.oxbow"

// RunChild is the main function of a child process that uses the library. It reads calls from the given reader until
// the end of the input, and writes the answers to the given writer. The list args contains --home DIR, and may contain
// --fault NAME to break the store deliberately (see [LockAndFileFaults]).
func RunChild(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	fs := flag.NewFlagSet("child", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	home := fs.String("home", "", "")
	fault := fs.String("fault", "", "")
	if err := fs.Parse(args); err != nil {
		return fmt.Errorf("reading the arguments of a child: %w", err)
	}
	dir, err := vfs.Dir(*home)
	if err != nil {
		return err
	}
	defer dir.Close()
	fsys, err := newFaultFS(ctx, dir, *home, *fault)
	if err != nil {
		return err
	}
	opts := &oxbow.Options{FS: fsys, Source: oxbow.Source{Actor: oxbow.Program}}
	workload.EnableSnapshotOnClose(opts)
	workload.WriteSnapshotsOften(opts)
	m, err := oxbow.Open(storeFile, opts)
	if err != nil {
		return fmt.Errorf("opening %s: %w", filepath.Join(*home, storeFile), err)
	}
	return errors.Join(serveCalls(ctx, fsys, m, in, out), m.Close())
}

func serveCalls(ctx context.Context, fsys vfs.FS, m *oxbow.Memory, in io.Reader, out io.Writer) error {
	var mu sync.Mutex // guards out and werr
	var werr error
	var open sync.WaitGroup
	d := json.NewDecoder(bufio.NewReader(in))
	for {
		var c callRequest
		if err := d.Decode(&c); err != nil {
			open.Wait()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, werr)
		}
		open.Go(func() {
			a, err := executeCall(ctx, fsys, m, c)
			if err != nil {
				a.Refusal = refusalName(err)
			}
			a.ID = c.ID
			b, err := json.Marshal(a)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				_, err = out.Write(append(b, '\n'))
			}
			werr = errors.Join(werr, err)
		})
	}
}

func refusalName(err error) string {
	switch {
	case errors.Is(err, oxbow.ErrConflict):
		return refusalVersionConflict
	case errors.Is(err, oxbow.ErrNotFound):
		return refusalEntryMissing
	case errors.Is(err, oxbow.ErrBusy):
		return refusalStoreBusy
	}
	return err.Error()
}

func executeCall(ctx context.Context, fsys vfs.FS, m *oxbow.Memory, c callRequest) (callAnswer, error) {
	if c.OpID != "" {
		ctx = oxbow.WithOpID(ctx, c.OpID)
	}
	switch c.Verb {
	case verbRemember:
		e, err := m.Remember(ctx, oxbow.Entry{Name: c.Name, Content: c.Content, Version: c.IfVersion})
		return callAnswer{Version: e.Version}, err
	case verbForget:
		// The answer contains no version, because the function Apply does not return one.
		return callAnswer{}, m.Apply(ctx, oxbow.Remove{Name: c.Name, If: c.IfVersion})
	case verbGet:
		e, err := m.Get(ctx, c.Name)
		return callAnswer{Version: e.Version, Content: e.Content}, err
	case verbOpenAndRecall:
		// Open a memory for a single recall, as a program that runs only for a short time does.
		opts := &oxbow.Options{FS: fsys, ReadOnly: true, KeepIndex: true}
		workload.EnableSnapshotOnClose(opts)
		once, err := oxbow.Open(storeFile, opts)
		if err != nil {
			return callAnswer{}, err
		}
		c.Verb = verbRecall
		a, err := executeCall(ctx, fsys, once, c)
		return a, errors.Join(err, once.Close())
	case verbRecall:
		hits, err := m.Recall(ctx, oxbow.Query{Text: c.Query, Limit: 5})
		a := callAnswer{VersionsByName: map[string]uint64{}}
		for _, h := range hits {
			a.VersionsByName[h.Entry.Name] = h.Entry.Version
		}
		return a, err
	case verbListNames:
		a := callAnswer{VersionsByName: map[string]uint64{}}
		for e, err := range m.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				return a, err
			}
			a.VersionsByName[e.Name] = e.Version
		}
		return a, nil
	case verbCompact:
		rep, err := m.Compact(ctx, oxbow.Compaction{Before: c.DropBefore})
		return callAnswer{Version: rep.Seq}, err
	}
	return callAnswer{}, fmt.Errorf("a call of the unknown verb %q", c.Verb)
}
