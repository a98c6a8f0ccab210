// This file tests that new texts are compared with unvouched entries. An unvouched entry contains text that nobody
// vouched for, such as imported text.

package provenance

import (
	"context"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestImportKeepsNoPrints checks that an import records no fingerprints. A large import would displace the
// fingerprints of texts that agents have read. A note that repeats an imported entry is found by comparison with the
// entry.
func TestImportKeepsNoPrints(t *testing.T) {
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	dir := t.TempDir()
	k := verb.ProvenanceData{
		Memory:        m,
		Fingerprints:  &fingerprint.Store{Dir: dir, Now: time.Now},
		DefaultCaller: session.Caller{Client: "claude", Session: "s"},
		TextsReadBySession: func(context.Context,
			session.Caller) session.Exposure {
			return session.Exposure{IsReportedByHooks: true}
		},
	}
	const text = "the quick brown fox jumps over the lazy dog near the old harbor wall"
	write := func(actor oxbow.Actor, name, content string) oxbow.Entry {
		t.Helper()
		ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: actor, Door: "mcp"})
		ops, err := (&Screener{ProvenanceData: k}).ScreenOps(
			ctx,
			m.Store(),
			[]oxbow.Op{oxbow.Add{Name: name, Content: content}},
		)
		if err == nil {
			err = m.Apply(ctx, ops...)
		}
		e, getErr := m.Get(t.Context(), name)
		if err != nil || getErr != nil {
			t.Fatal(err, getErr)
		}
		return e
	}
	if e := write(oxbow.Imported, "imported", text); e.Trust() != oxbow.TrustImported {
		t.Fatalf("the import has the trust %s", e.Trust())
	}
	if found := k.Fingerprints.FindRepeats([]string{text}, nil)[0]; found.IsRepeat() {
		t.Errorf("the import left the fingerprints %+v", found)
	}
	if e := write(oxbow.Agent, "note", "I saw that "+text); e.Trust() != oxbow.TrustImported {
		t.Errorf("a note that repeats the import has the trust %s", e.Trust())
	}
}
