// This file tests the inbox of a read-only archive.

package review

import (
	"context"
	"io/fs"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// readOnlyFS is a file system that refuses all writes.
type readOnlyFS struct{ vfs.FS }

func (readOnlyFS) OpenLock(name string) (vfs.Lock, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// TestInboxReadOnly tests that the inbox of a read-only archive shows the proposals that were found before.
func TestInboxReadOnly(t *testing.T) {
	files := vfs.NewMem()
	asked := func(id, text string) {
		m, err := oxbow.Open(session.StoreFile, &oxbow.Options{FS: files})
		if err != nil {
			t.Fatal(err)
		}
		defer storetest.Close(t, m)
		a := &session.Archive{Memory: m, MakeLabels: inbox.TurnLabels}
		e := session.Event{Client: "claude", Session: id, TurnID: "1", Kind: session.KindPrompt, Text: text,
			Time: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
		if _, err := a.AddEvents(t.Context(), []session.Event{e}); err != nil {
			t.Fatal(err)
		}
		if id != "learned" {
			return
		}
		if _, err := inbox.UpdateProposals(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	asked("learned", "From now on, always use tabs in Makefiles.")
	asked("not learned", "Remember that the staging proxy listens on port 8443.")

	m, err := oxbow.Open(session.StoreFile, &oxbow.Options{FS: readOnlyFS{files}})
	if err != nil {
		t.Fatal(err)
	}
	w := &verb.Workspace{Sessions: func(context.Context) (*session.Archive, error) {
		return &session.Archive{Memory: m, MakeLabels: inbox.TurnLabels}, nil
	}}
	out, err := ListProposals(t.Context(), w, InboxIn{})
	if err != nil || len(out.Proposals) != 1 {
		t.Errorf("Inbox = %+v, %v; want the one proposal that was learned", out.Proposals, err)
	}
	storetest.Close(t, m)
}
