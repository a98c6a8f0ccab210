// This file tests the conversion of a memory to another layout.

package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// plainStore is a store that stores only names and contents of notes, and refuses names with a slash.
type plainStore struct {
	oxbow.Store
	broken error
}

func (s *plainStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	if s.broken != nil {
		return s.broken
	}
	for _, op := range ops {
		add := op.(oxbow.Add)
		switch {
		case strings.Contains(add.Name, "/"):
			return &oxbow.InvalidError{Field: "name", Value: add.Name, Reason: "has a slash"}
		case len(add.Labels) > 0 || len(add.Aliases) > 0 || add.Kind != oxbow.Note:
			return fmt.Errorf("%w: only notes", oxbow.ErrUnsupported)
		}
	}
	return s.Store.Apply(ctx, ops...)
}

func memory(t *testing.T) *oxbow.Memory {
	t.Helper()
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	return m
}

// forgetfulStore is a store that accepts every entry, but does not store dates, kinds and some labels.
type forgetfulStore struct{ oxbow.Store }

func (s forgetfulStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	var kept []oxbow.Op
	for _, op := range ops {
		add := op.(oxbow.Add)
		if add.Name == "gone" {
			continue
		}
		add.Kind, add.Created, add.Content = oxbow.World, time.Time{}, strings.TrimSpace(add.Content)
		add.Labels = add.Labels[:min(1, len(add.Labels))]
		kept = append(kept, add)
	}
	return s.Store.Apply(ctx, kept...)
}

// TestConvertNamesWhatIsNotKept tests that the report names what a store has accepted but not kept.
func TestConvertNamesWhatIsNotKept(t *testing.T) {
	ctx := t.Context()
	from := memory(t)
	now := time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	to := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { return now }})
	day := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	two := []oxbow.Label{{Key: "tag", Value: "x"}, {Key: "tag", Value: "y"}}
	if err := from.Apply(ctx,
		oxbow.Add{Name: "all", Content: " text ", Labels: two, Created: day},
		oxbow.Add{Name: "gone", Content: "text"},
		oxbow.Add{Name: "labels", Content: "text", Labels: two, Kind: oxbow.World, Created: now},
		oxbow.Add{Name: "nothing", Content: "text", Kind: oxbow.World, Created: now}); err != nil {
		t.Fatal(err)
	}
	rep, err := exchange.Convert(ctx, from, forgetfulStore{to}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d %q %q", rep.EntryCount, rep.AdaptedEntries, rep.RefusedEntries[0].Name)
	want := `3 [{"all" ["kind note" "labels" "characters of the text" "date 2020-02-03"]} {"labels" ["labels"]}] "gone"`
	if got != want || len(rep.RefusedEntries) != 1 {
		t.Errorf("Convert() = %s, want %s", got, want)
	}
}

func TestConvert(t *testing.T) {
	ctx := t.Context()
	from := memory(t)
	label := []oxbow.Label{{Key: "tag", Value: "x"}}
	var ops []oxbow.Op
	for i := range 600 { // These are more entries than a batch may have.
		ops = append(ops, oxbow.Add{Name: fmt.Sprintf("plain %03d", i), Content: "text"})
	}
	ops = append(ops,
		oxbow.Add{Name: "labelled", Content: "text", Labels: label},
		oxbow.Add{Name: "world", Content: "text", Kind: oxbow.World, Aliases: []string{"globe"}, Labels: label},
		oxbow.Add{Name: "a/b", Content: "text", Labels: label})
	if err := from.Apply(ctx, ops...); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		name    string
		to      func(m *oxbow.Memory) oxbow.Store
		adapt   bool
		entries int
		adapted []string
		refused []string
	}{
		{"all fits", func(m *oxbow.Memory) oxbow.Store { return m }, false, 603, nil, nil},
		{"as it is", func(m *oxbow.Memory) oxbow.Store {
			return &plainStore{Store: m}
		}, false, 600, nil, []string{"labelled", "world", "a/b"}},
		{"made to fit", func(m *oxbow.Memory) oxbow.Store { return &plainStore{Store: m} }, true, 602,
			[]string{"labelled: labels", "world: labels, aliases, kind world"}, []string{"a/b"}},
	} {
		m := memory(t)
		progress := 0
		rep, err := exchange.Convert(
			ctx,
			from,
			tt.to(m),
			&exchange.ConvertOptions{MayAdaptEntries: tt.adapt, Progress: func(n int) {
				progress = n
			}},
		)
		if err != nil || rep.EntryCount != tt.entries || progress != 603 {
			t.Errorf(
				"%s: Convert() = %d entries, %v, after %d; want %d of 603",
				tt.name,
				rep.EntryCount,
				err,
				progress,
				tt.entries,
			)
		}
		var adapted, refused []string
		for _, a := range rep.AdaptedEntries {
			adapted = append(adapted, a.Name+": "+strings.Join(a.LostParts, ", "))
		}
		for _, r := range rep.RefusedEntries {
			refused = append(refused, r.Name)
		}
		if !slices.Equal(adapted, tt.adapted) || !slices.Equal(refused, tt.refused) {
			t.Errorf("%s: adapted %q, refused %q; want %q and %q", tt.name, adapted, refused, tt.adapted, tt.refused)
		}
		n := 0
		for e, err := range m.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			old, err := from.Get(ctx, e.Name)
			if err != nil || e.Content != old.Content || !e.Created.Equal(old.Created) {
				t.Errorf(
					"%s: entry %q = %q of %v; was %q of %v, %v",
					tt.name,
					e.Name,
					e.Content,
					e.Created,
					old.Content,
					old.Created,
					err,
				)
			}
			n++
		}
		if n != tt.entries {
			t.Errorf("%s: the new store has %d entries, want %d", tt.name, n, tt.entries)
		}
	}

	broken := errors.New("the disk is gone")
	if _, err := exchange.Convert(
		ctx,
		from,
		&plainStore{Store: memory(t), broken: broken},
		nil,
	); !errors.Is(err, broken) {
		t.Errorf("Convert() to a broken store = %v, want %v", err, broken)
	}
}
