// This file finds secrets in the notes and sources of changes.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// scanChanges searches the note and the source (author) of each change in the log for secrets, and adds them to
// o.FoundSecrets. The result cutoffTime is the time up to which changes must be dropped to remove these secrets. It is
// zero if there are none.
//
// The map sources contains the secrets in the sources of entries, by the number of the change that wrote the entry. For
// a change that is still in the log, the same secrets are found in the log, so scanChanges deletes the element. It adds
// the secrets in the remaining elements to o.FoundSecrets.
func (o *ScanOut) scanChanges(
	ctx context.Context,
	m *oxbow.Memory,
	sources map[uint64][]verb.FoundSecret,
	isArchive bool,
) (cutoffTime time.Time, err error) {
	add := func(seq uint64, found []verb.FoundSecret) {
		for _, f := range found {
			f.Version, f.IsInArchive = seq, isArchive
			o.FoundSecrets = append(o.FoundSecrets, f)
		}
	}
	// the change that was read last; in the end, it is the first change of the log, because the log is read newest
	// first
	var first oxbow.Change
	for c, err := range m.Log(ctx) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			return cutoffTime, nil
		}
		if err != nil {
			return cutoffTime, err
		}
		found := append(verb.FindTextSecrets("note", c.Note), verb.FindSourceSecrets(c.Source)...)
		add(c.Seq, found)
		if found != nil && c.Time.After(cutoffTime) {
			cutoffTime = c.Time
		}
		delete(sources, c.Seq)
		first = c
	}
	for _, seq := range slices.Sorted(maps.Keys(sources)) {
		if found := sources[seq]; found != nil {
			// A compaction has dropped the change and kept only the entry. The secret is in the entry's source, from
			// which the next compaction will remove it.
			add(seq, found)
			if first.Time.After(cutoffTime) {
				cutoffTime = first.Time
			}
		}
	}
	return cutoffTime, nil
}

// dropChangesUntil deletes the history of the session archive up to the time cutoffTime, because notes or sources of
// these changes contain secrets. All changes up to this time are dropped, even changes without secrets, because a hash
// chain covers the notes and sources, so that a single secret cannot be replaced. This is acceptable because nobody
// undoes changes in the archive.
//
// If m is the user's memory (isArchive is false), dropChangesUntil deletes nothing, and adds the command for the
// compaction to o.RemainingSteps. If secretCount, the number of secrets in notes and sources, is 0, it does nothing.
func (o *ScanOut) dropChangesUntil(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
	cutoffTime time.Time,
	secretCount int,
	isArchive bool,
) error {
	if secretCount == 0 {
		return nil
	}
	if !isArchive {
		command, err := buildCompactCommand(w, cutoffTime)
		o.RemainingSteps = append(o.RemainingSteps, command)
		return err
	}
	_, err := m.Compact(ctx, oxbow.Compaction{Before: cutoffTime.Add(time.Nanosecond)})
	if errors.Is(err, oxbow.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return verb.WrapError("dropping the history of the archive", err)
	}
	o.ReplacedSecretCount += secretCount
	return nil
}

// buildCompactCommand returns the command that drops the changes up to a time.
func buildCompactCommand(w *verb.Workspace, cutoffTime time.Time) (string, error) {
	p, err := w.FindPlace()
	hours := max(int(w.CurrentTime().Sub(cutoffTime).Hours()), 0)
	return fmt.Sprintf("oxbow --home %s compact --keep %dh --yes", text.ShellQuote(p.Home), hours), err
}

// Words with fewer bytes than minWordLength are not searched for, because they are in many notes.
const minWordLength = 3

// describeMentionsInNotes returns a sentence about the changes whose notes mention an entry, because redacting the
// entry does not change the notes. The sentence lists the changes, and contains the command that drops all changes up
// to the newest of them. A note mentions the entry if it contains the name, or an alias or label value that the entry
// has or had, and this word has at least minWordLength bytes. If no note mentions the entry, or if the memory has no
// log, the result is "".
func describeMentionsInNotes(ctx context.Context, w *verb.Workspace, m *oxbow.Memory, name string) (string, error) {
	words := map[string]bool{name: true}
	var noted []oxbow.Change // changes with a note, newest first
	for c, err := range m.Log(ctx) {
		if errors.Is(err, oxbow.ErrUnsupported) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for _, v := range c.Versions {
			if v.Entry.Name != name {
				continue
			}
			for _, a := range v.Entry.Aliases {
				words[a] = true
			}
			for _, l := range v.Entry.Labels {
				words[l.Value] = true
			}
		}
		if c.Note != "" {
			c.Versions = nil
			noted = append(noted, c)
		}
	}
	var seqs []string
	var until time.Time
	for _, c := range slices.Backward(noted) {
		for word := range words {
			if len(word) >= minWordLength && strings.Contains(c.Note, word) {
				seqs, until = append(seqs, fmt.Sprint(c.Seq)), c.Time
				break
			}
		}
	}
	if seqs == nil {
		return "", nil
	}
	command, err := buildCompactCommand(w, until)
	return "notes of changes, which oxbow log shows (" + text.TruncateWithEllipsis(
		strings.Join(seqs, ", "),
		60,
	) + "); to drop them: " +
		command, err
}
