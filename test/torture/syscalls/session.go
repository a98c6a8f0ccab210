//go:build linux

// This file defines the session: its steps, the effect of each step on the store, and the resulting entries.

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

// sessionStep is a step of the session.
type sessionStep struct {
	description string
	run         func(ctx context.Context, m *oxbow.Memory) error

	// applyToContents makes the change of the step in a map from entry names to contents. The parameter before is the
	// map as it was before the last change, for a step that undoes this change.
	applyToContents func(now, before map[string]string) map[string]string
}

// newRememberStep returns a step that remembers a text with about the number of bytes in size.
func newRememberStep(name string, size int) sessionStep {
	content := strings.Repeat(name+" is remembered. ", size/16+1)
	return sessionStep{
		description: "remember " + name,
		run: func(ctx context.Context, m *oxbow.Memory) error {
			_, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: content})
			return err
		},
		applyToContents: func(now, _ map[string]string) map[string]string {
			now[name] = content
			return now
		},
	}
}

func newForgetStep(name string) sessionStep {
	return sessionStep{
		description: "forget " + name,
		run:         func(ctx context.Context, m *oxbow.Memory) error { return m.Forget(ctx, name) },
		applyToContents: func(now, _ map[string]string) map[string]string {
			delete(now, name)
			return now
		},
	}
}

func sameContentsAfterStep(contents, _ map[string]string) map[string]string { return contents }

// sessionSteps returns the steps that the child process executes on a store, one after another. The first step opens
// the store, and the last step closes it. The function [ChildCommand] itself executes these two.
func sessionSteps() []sessionStep {
	batch := sessionStep{
		description: "batch",
		run: func(ctx context.Context, m *oxbow.Memory) error {
			return m.Apply(ctx,
				oxbow.Add{Name: "f", Content: "f came in a batch"},
				oxbow.Update{Name: "a", Content: "a was changed in a batch"},
				oxbow.Remove{Name: "b"})
		},
		applyToContents: func(now, _ map[string]string) map[string]string {
			now["f"], now["a"] = "f came in a batch", "a was changed in a batch"
			delete(now, "b")
			return now
		},
	}
	undo := sessionStep{
		description: "undo",
		run: func(ctx context.Context, m *oxbow.Memory) error {
			_, _, err := m.Undo(ctx, 1)
			return err
		},
		applyToContents: func(_, before map[string]string) map[string]string { return before },
	}
	compaction := sessionStep{
		description: "compact",
		run: func(ctx context.Context, m *oxbow.Memory) error {
			_, err := m.Compact(ctx, oxbow.Compaction{Before: time.Now().Add(time.Hour)})
			return err
		},
		applyToContents: sameContentsAfterStep,
	}
	// After a recall, the store indexes the entries of the following batch while it syncs the batch.
	recall := sessionStep{
		description: "recall",
		run: func(ctx context.Context, m *oxbow.Memory) error {
			_, err := m.Recall(ctx, oxbow.Query{Text: "remembered"})
			return err
		},
		applyToContents: sameContentsAfterStep,
	}
	return []sessionStep{
		{description: "open", applyToContents: sameContentsAfterStep},
		newRememberStep("a", 100), newRememberStep("b", 10), newRememberStep("c", 4000), newRememberStep("d", 90_000),
		newRememberStep("e", 10),
		recall, batch, newForgetStep("c"), undo, compaction, recall, newRememberStep("g", 100), newForgetStep("d"),
		{description: "close", applyToContents: sameContentsAfterStep},
	}
}

// contentsAfterSteps returns the contents that the entries must have, by name, if only some steps were done.
// stepsDone[i] is true if step i was done.
func contentsAfterSteps(stepsDone []bool) map[string]string {
	now, before := map[string]string{}, map[string]string{}
	for i, s := range sessionSteps() {
		if i >= len(stepsDone) || !stepsDone[i] {
			continue
		}
		next := s.applyToContents(maps.Clone(now), before)
		if !maps.Equal(next, now) {
			now, before = next, now
		}
	}
	return now
}

// These are the outcomes that the child process prints for each step of the test session.
const (
	stepOutcomeDone    = "done"
	stepOutcomeRefused = "refused" // the step failed and has changed nothing
	outcomeUnknown     = "unknown" // the step may or may not have been done
)

// RunChild is the main function of the child process. It runs the steps of the session on the store in a home. After
// each step, it writes a line with the outcome to the writer out.
func RunChild(ctx context.Context, home string, out io.Writer) error {
	// Keep all system calls in the same thread, so that they can be counted.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	say := func(err error) error {
		word, text := stepOutcomeDone, ""
		switch {
		case errors.Is(err, oxbow.ErrUnknownOutcome):
			word, text = outcomeUnknown, err.Error()
		case err != nil:
			word, text = stepOutcomeRefused, err.Error()
		}
		_, err = fmt.Fprintf(out, "%s %s\n", word, strings.ReplaceAll(text, "\n", "; "))
		return err
	}
	m, err := oxbow.Open(filepath.Join(home, storeFile), nil)
	if err := say(err); err != nil || m == nil {
		return err
	}
	for _, s := range sessionSteps() {
		if s.run == nil {
			continue
		}
		if err := say(s.run(ctx, m)); err != nil {
			return err
		}
	}
	return say(m.Close())
}
