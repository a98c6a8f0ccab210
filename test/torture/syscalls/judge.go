//go:build linux

// This file checks whether a store has the correct content.

package syscalls

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// checkStoreAfterFault opens and checks the store in the directory home after a child process has run the test session.
// p is the fault that occurred meanwhile: a system call failed, or, if p.Errno is "", the process was killed.
// childOutput is the output of the child process, with one line for the outcome of each step.
//
// checkStoreAfterFault adds the numbers of refused steps and of steps with an unknown outcome to rep. It returns an
// error if the outcomes or the stored entries do not fit the fault.
func checkStoreAfterFault(ctx context.Context, home, childOutput string, p FailurePoint, rep *Report) error {
	var done []bool
	var open []int // indexes of the steps that may or may not have been executed
	whole := childOutput[:strings.LastIndexByte(childOutput, '\n')+1]
	for line := range strings.Lines(whole) {
		word, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == stepOutcomeRefused:
			rep.RefusedSteps++
		case word == outcomeUnknown:
			rep.StepsWithUnknownOutcome++
			open = append(open, len(done))
		case word != stepOutcomeDone:
			return fmt.Errorf("the child said %q", line)
		}
		if p.Errno == "" && word != stepOutcomeDone {
			return fmt.Errorf(
				"step %q failed before the process was killed: %s",
				sessionSteps()[len(done)].description,
				text,
			)
		}
		done = append(done, word == stepOutcomeDone)
	}
	if n := len(done); n < len(sessionSteps()) {
		if p.Errno != "" && n > 1 {
			return fmt.Errorf("the process ended after %d steps, though only a call failed", n)
		}
		done = append(done, false)
		open = append(open, n)
	}

	m, err := oxbow.Open(filepath.Join(home, storeFile), nil)
	if err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	return errors.Join(checkStoredEntries(ctx, m, done, open), m.Close())
}

// checkStoredEntries checks that the store contains the entries that it must contain after the steps of the test. A
// step was executed if isStepDone is true for its index. A step whose index is in unknownStepIndexes may or may not
// have been executed. Then checkStoredEntries makes another change, compacts the store, and checks the store again.
func checkStoredEntries(ctx context.Context, m *oxbow.Memory, isStepDone []bool, unknownStepIndexes []int) error {
	have, err := readContents(ctx, m)
	if err != nil {
		return err
	}
	fits := false
	for set := range 1 << len(unknownStepIndexes) {
		try := slices.Clone(isStepDone)
		for i, n := range unknownStepIndexes {
			try[n] = set&(1<<i) != 0
		}
		fits = fits || maps.Equal(have, contentsAfterSteps(try))
	}
	if !fits {
		return fmt.Errorf(
			"the store has %s; steps done %v, not known %v",
			formatContentSizes(have),
			isStepDone,
			unknownStepIndexes,
		)
	}
	if _, err := m.Remember(ctx, oxbow.Entry{Name: "after", Content: "after all"}); err != nil {
		return fmt.Errorf("remembering afterwards: %w", err)
	}
	// The next compaction removes the remaining files of a killed compaction.
	if _, err := m.Compact(ctx, oxbow.Compaction{Before: time.Now().Add(time.Hour)}); err != nil {
		return fmt.Errorf("compacting afterwards: %w", err)
	}
	have["after"] = "after all"
	now, err := readContents(ctx, m)
	if err != nil {
		return err
	}
	if !maps.Equal(now, have) {
		return fmt.Errorf(
			"after one more change the store has %s, before it %s",
			formatContentSizes(now),
			formatContentSizes(have),
		)
	}
	rep, err := m.Check(ctx)
	for _, p := range rep.Problems {
		err = errors.Join(err, fmt.Errorf("check: %s", p.What))
	}
	return err
}

func readContents(ctx context.Context, m *oxbow.Memory) (map[string]string, error) {
	all := map[string]string{}
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, fmt.Errorf("reading the entries: %w", err)
		}
		all[e.Name] = e.Content
	}
	return all, nil
}

// formatContentSizes returns a list of entry names, each with the entry's content length.
func formatContentSizes(contents map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		parts = append(parts, fmt.Sprintf("%s (%d bytes)", name, len(contents[name])))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
