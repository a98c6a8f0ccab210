//go:build linux

// This file defines the session: the steps, the effect of each step on the store, and the resulting
// entries.

package syscalls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// storeFile is the name of the store in its home.
const storeFile = "memory.oxbow"

// step is one step of the session.
type step struct {
	what string
	do   func(ctx context.Context, m *oxbow.Memory) error

	// model applies the step to a map of contents by name. before is the map before the
	// last step that changed something.
	model func(now, before map[string]string) map[string]string
}

// remembering returns a step that remembers a text of about size bytes.
func remembering(name string, size int) step {
	content := strings.Repeat(name+" is remembered. ", size/16+1)
	return step{
		what: "remember " + name,
		do: func(ctx context.Context, m *oxbow.Memory) error {
			_, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: content})
			return err
		},
		model: func(now, _ map[string]string) map[string]string {
			now[name] = content
			return now
		},
	}
}

func forgetting(name string) step {
	return step{
		what: "forget " + name,
		do:   func(ctx context.Context, m *oxbow.Memory) error { return m.Forget(ctx, name) },
		model: func(now, _ map[string]string) map[string]string {
			delete(now, name)
			return now
		},
	}
}

func keepContents(now, _ map[string]string) map[string]string { return now }

// session returns the steps. The first opens the store and the last closes it. [Child]
// handles these two itself.
func session() []step {
	batch := step{
		what: "batch",
		do: func(ctx context.Context, m *oxbow.Memory) error {
			return m.Apply(ctx,
				oxbow.Add{Name: "f", Content: "f came in a batch"},
				oxbow.Update{Name: "a", Content: "a was changed in a batch"},
				oxbow.Remove{Name: "b"})
		},
		model: func(now, _ map[string]string) map[string]string {
			now["f"], now["a"] = "f came in a batch", "a was changed in a batch"
			delete(now, "b")
			return now
		},
	}
	undo := step{
		what: "undo",
		do: func(ctx context.Context, m *oxbow.Memory) error {
			_, _, err := m.Undo(ctx, 1)
			return err
		},
		model: func(_, before map[string]string) map[string]string { return before },
	}
	compaction := step{
		what: "compact",
		do: func(ctx context.Context, m *oxbow.Memory) error {
			_, err := m.Compact(ctx, oxbow.Compaction{Before: time.Now().Add(time.Hour)})
			return err
		},
		model: keepContents,
	}
	recall := step{ // the preceding batch is analyzed while it is synced
		what: "recall",
		do: func(ctx context.Context, m *oxbow.Memory) error {
			_, err := m.Recall(ctx, oxbow.Query{Text: "remembered"})
			return err
		},
		model: keepContents,
	}
	return []step{
		{what: "open", model: keepContents},
		remembering("a", 100), remembering("b", 10), remembering("c", 4000), remembering("d", 90_000),
		remembering("e", 10),
		recall, batch, forgetting("c"), undo, compaction, recall, remembering("g", 100), forgetting("d"),
		{what: "close", model: keepContents},
	}
}

// after returns the entries after the steps that were done.
func after(done []bool) map[string]string {
	now, before := map[string]string{}, map[string]string{}
	for i, s := range session() {
		if i >= len(done) || !done[i] {
			continue
		}
		next := s.model(maps.Clone(now), before)
		if !maps.Equal(next, now) {
			now, before = next, now
		}
	}
	return now
}

// Outcomes of a step that the child prints.
const (
	saidDone    = "done"
	saidRefused = "refused" // not done
	saidUnknown = "unknown" // done or not
)

// Child is the main function of the child process: it runs the session on the store in a
// home and writes a line to out after each step.
func Child(ctx context.Context, home string, out io.Writer) error {
	// Keep all system calls in one thread, so that they can be counted.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	say := func(err error) error {
		word, text := saidDone, ""
		switch {
		case errors.Is(err, oxbow.ErrUnknownOutcome):
			word, text = saidUnknown, err.Error()
		case err != nil:
			word, text = saidRefused, err.Error()
		}
		_, err = fmt.Fprintf(out, "%s %s\n", word, strings.ReplaceAll(text, "\n", "; "))
		return err
	}
	m, err := oxbow.Open(filepath.Join(home, storeFile), nil)
	if err := say(err); err != nil || m == nil {
		return err
	}
	for _, s := range session() {
		if s.do == nil {
			continue
		}
		if err := say(s.do(ctx, m)); err != nil {
			return err
		}
	}
	return say(m.Close())
}
