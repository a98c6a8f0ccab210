//go:build unix

// This file tests that the audit of a store finds each kind of violation, such as a lost change. Each test makes a
// store and a ledger, which is the list of the changes that were requested and acknowledged.

package procs

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestAudit compares logs with a ledger that contains the change "op" of the entry "a", which was acknowledged as
// change 1.
func TestAudit(t *testing.T) {
	type m = *oxbow.Memory
	put := func(t *testing.T, m m, name, content string) {
		t.Helper()
		if _, err := m.Remember(t.Context(), oxbow.Entry{Name: name, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what  string
		store func(t *testing.T, m m)
		more  func(l *changeLedger)
		want  string // beginning of the error ("" if there must be no error)
	}{
		{"as it should be", func(t *testing.T, m m) { put(t, m, "a", "op a") }, nil, ""},
		{"the change is missing", func(t *testing.T, m m) {}, nil, "lost: op of"},
		{"the change is there twice", func(t *testing.T, m m) {
			put(t, m, "a", "op a")
			put(t, m, "a", "op a again")
		}, nil, "twice: "},
		{"it has another number", func(t *testing.T, m m) { put(t, m, "b", "more b"); put(t, m, "a", "op a") },
			func(l *changeLedger) { l.recordRequest("more", "b", verbRemember, false) }, "mixed: "},
		{"it has another name", func(t *testing.T, m m) { put(t, m, "b", "op a") }, nil, "mixed: "},
		{"nobody asked for it", func(t *testing.T, m m) {
			put(t, m, "a", "op a")
			put(t, m, "b", "who b")
		}, nil, "twice: "},
		{"it was refused", func(t *testing.T, m m) { put(t, m, "a", "op a"); put(t, m, "b", "no b") },
			func(l *changeLedger) {
				l.recordRequest("no", "b", verbRemember, true)
				l.recordAnswer("no", requestRefused, 0)
			}, "ghost: "},
		{"it is under way, and there", func(t *testing.T, m m) { put(t, m, "a", "op a"); put(t, m, "b", "now b") },
			func(l *changeLedger) { l.recordRequest("now", "b", verbRemember, false) }, ""},
		{"it is under way, and not there", func(t *testing.T, m m) { put(t, m, "a", "op a") },
			func(l *changeLedger) { l.recordRequest("now", "b", verbRemember, false) }, ""},
		{"a removal is missing", func(t *testing.T, m m) { put(t, m, "a", "op a") },
			func(l *changeLedger) {
				l.recordRequest("gone", "a", verbForget, false)
				l.recordAnswer("gone", requestAcknowledged, 0)
			}, "lost: gone of"},
		{"nobody asked for a removal", func(t *testing.T, m m) {
			put(t, m, "a", "op a")
			if err := m.Forget(context.Background(), "a"); err != nil {
				t.Fatal(err)
			}
		}, nil, "twice: "},
	} {
		dir := t.TempDir()
		store, err := oxbow.Open(filepath.Join(dir, storeFile), nil)
		if err != nil {
			t.Fatal(err)
		}
		c.store(t, store)
		r := &processCampaign{opts: Options{Dir: dir}, ledger: newChangeLedger(), stop: make(chan struct{})}
		r.ledger.recordRequest("op", "a", verbRemember, false)
		r.ledger.recordAnswer("op", requestAcknowledged, 1)
		if c.more != nil {
			c.more(r.ledger)
		}
		a, err := newAuditor(r)
		if err != nil {
			t.Fatal(err)
		}
		err = a.readNewChanges(t.Context())
		if (c.want == "" && err != nil) || (c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want))) {
			t.Errorf("%s: audit = %v, want %q", c.what, err, c.want)
		}
		for _, m := range []m{a.memory, store} {
			rep, err := m.Check(t.Context())
			if err != nil || len(rep.Problems) > 0 {
				t.Errorf("%s: Check = %v, %v", c.what, rep.Problems, err)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestJudgeRead compares reads of the entry "a" with the states that were known before and after the read.
func TestJudgeRead(t *testing.T) {
	quiet := knownEntryState{version: 5, requestedChangeCount: 2, answeredChangeCount: 2}
	asked := knownEntryState{version: 5, requestedChangeCount: 3, answeredChangeCount: 2}
	leaving := knownEntryState{version: 5, requestedChangeCount: 3, answeredChangeCount: 2, isRemovalRequested: true}
	gone := knownEntryState{isRemoved: true, isRemovalRequested: true, requestedChangeCount: 3, answeredChangeCount: 3}
	for _, c := range []struct {
		what          string
		before, after knownEntryState
		found         bool
		version, seen uint64
		want          string
	}{
		{"as acknowledged", quiet, quiet, true, 5, 5, ""},
		{"older", quiet, quiet, true, 4, 0, "stale"},
		{"newer than anybody asked for", quiet, quiet, true, 6, 0, "mixed"},
		{"newer, and asked for", quiet, asked, true, 6, 0, ""},
		{"newer, asked for before", asked, asked, true, 6, 0, ""},
		{"older, though another was asked for", asked, asked, true, 4, 0, "stale"},
		{"older than seen", asked, asked, true, 6, 7, "back"},
		{"not there", quiet, asked, false, 0, 0, "stale"},
		{"not there, and leaving", quiet, leaving, false, 0, 0, ""},
		{"still there, and leaving", leaving, leaving, true, 5, 5, ""},
		{"there though forgotten", gone, gone, true, 5, 5, "stale"},
		{"forgotten", gone, gone, false, 0, 0, ""},
		{"forgotten meanwhile", quiet, gone, false, 0, 0, ""},
		{"not acknowledged yet", knownEntryState{requestedChangeCount: 1}, knownEntryState{requestedChangeCount: 1}, false, 0, 0, ""},
	} {
		r := &processCampaign{stop: make(chan struct{})}
		rd := &readingGoroutine{
			run:                r,
			proc:               &processRole{name: "reader"},
			highestVersionRead: map[string]uint64{"a": c.seen},
		}
		rd.checkReadResult("get", "a", c.before, c.after, c.found, c.version)
		got := ""
		for _, v := range r.violationReport.Violations {
			got, _, _ = strings.Cut(v, ":")
		}
		if got != c.want {
			t.Errorf("%s: judge reports %q, want %q", c.what, r.violationReport.Violations, c.want)
		}
	}
}
