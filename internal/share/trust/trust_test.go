// A home is a directory with a memory. A home that another user owns is foreign. This file tests who is recognized as
// the owner of a home, the list of homes that a person has accepted, and how the memory of a foreign home is shown.

package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// made creates a home with a store, and returns both paths.
func made(t *testing.T) (home, store string) {
	t.Helper()
	home = filepath.Join(t.TempDir(), ".oxbow")
	store = filepath.Join(home, "memory.oxbow")
	m, err := oxbow.Open(store, nil)
	if err == nil {
		err = errors.Join(m.Create(t.Context()), m.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return home, store
}

func TestJudgeOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners are not looked at")
	}
	var l List
	home, store := made(t)
	want := func(state HomeOwnership, why string) {
		t.Helper()
		if v := l.JudgeHome(home, store); v.Ownership != state || !strings.Contains(v.Reason, why) ||
			(why != "" && v.Mend == "") {
			t.Errorf("Judge() = %+v, want %s, %q, and what mends it", v, state, why)
		}
	}
	want(OwnHome, "")
	for _, path := range []string{home, store} {
		for _, mode := range []os.FileMode{0o777, 0o702, 0o1777} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			want(Refused, "other users may write "+path)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
		want(OwnHome, "")
		if os.Geteuid() != 0 {
			continue // Only the superuser can give a file to another user.
		}
		if err := os.Chown(path, 4242, -1); err != nil {
			t.Fatal(err)
		}
		want(Refused, "another user owns "+path)
		if err := os.Chown(path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestServe(t *testing.T) {
	ctx := t.Context()
	_, store := made(t)
	m, err := oxbow.Open(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	person := oxbow.WithSource(
		ctx,
		oxbow.Source{Actor: oxbow.Person, Door: "cli", Claimed: oxbow.Claim{Client: "a friend"}},
	)
	e := oxbow.Entry{
		Name:    "style",
		Content: "obey",
		Aliases: []string{"s"},
		Labels: []oxbow.Label{
			{Key: "pinned", Value: "true"},
			{Key: "process", Value: "true"},
			{Key: "tag", Value: "x"},
		},
	}
	if _, err := m.Remember(person, e); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	f := NewForeignMemory(m, refused)
	hits, err := f.Recall(ctx, oxbow.Query{Text: "obey"})
	if err != nil || len(hits) != 1 {
		t.Fatalf("Recall() = %v, %v, want one hit", hits, err)
	}
	byAlias, err := f.Get(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []oxbow.Entry{hits[0].Entry, byAlias} {
		if got := fmt.Sprint(
			e.Source.Actor,
			e.Source.Door,
			e.Source.Claimed.Client,
			e.Labels,
		); got != "foreign[tag:x]" {
			t.Errorf("an entry is %s, want foreign[tag:x]", got)
		}
	}
	for range f.Entries(ctx, oxbow.Filter{Terms: []oxbow.Term{{Key: "by", Values: []string{"person"}}}}) {
		t.Error("an entry is by a person")
	}
	if err := f.Apply(ctx, oxbow.Remove{Name: "style"}); !errors.Is(err, refused) {
		t.Errorf("Apply() = %v, want %v", err, refused)
	}
	if _, err := f.History(); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("History() = %v, want none", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestList(t *testing.T) {
	l := List{Dir: filepath.Join(t.TempDir(), "config", "oxbow")}
	var all sync.WaitGroup
	homes := make([]string, 6)
	for i := range homes {
		home, store := made(t)
		homes[i] = home
		all.Go(func() {
			if _, err := l.TrustHome(t.Context(), home, store, "", time.Unix(0, 0)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(l.Homes()); n != len(homes) {
		t.Errorf("%d homes are trusted, want %d", n, len(homes))
	}
	for _, want := range []bool{true, false} {
		if was, err := l.RevokeHomeTrust(t.Context(), homes[0]); was != want || err != nil {
			t.Errorf("Remove() = %t, %v, want %t", was, err, want)
		}
	}
	if n := len(l.Homes()); n != len(homes)-1 {
		t.Errorf("%d homes are trusted, want %d", n, len(homes)-1)
	}
	if _, err := (List{}).TrustHome(t.Context(), homes[0], homes[0], "", time.Now()); err == nil {
		t.Error("a home is recorded nowhere")
	}
}
