// This file implements push and pull, which exchange changes between the home and a server.

package sharing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/reconcile"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/vfs"
)

// SyncChangesIn is the argument of PushChanges and PullChanges.
type SyncChangesIn struct {
	Server    string `json:"server,omitempty"     flag:"-" usage:"the URL of the server, by default the one that is remembered"`
	TokenFile string `json:"token_file,omitempty"          usage:"the file that contains only the token (default the file that you named last, or the variable OXBOW_TOKEN)" value:"FILE"`
	DryRun    bool   `json:"dry_run,omitempty"             usage:"show what would be changed and change nothing"`

	// called with the length of a wait for the server, and with 0 when the wait ends
	ShowWait func(time.Duration)                        `json:"-"`
	Sleep    func(context.Context, time.Duration) error `json:"-"` // waits for a time; the default uses a timer
}

// SyncChangesOut is the result of PushChanges and PullChanges. After an error, it describes the work that was done
// before.
type SyncChangesOut struct {
	DryRun  bool         `json:"dry_run,omitempty"`
	Server  string       `json:"server"`
	Changes []SyncChange `json:"changes"`
	// for a push: entries that both the home and the server changed, or that the server did not accept
	WaitingEntries []SyncProblem `json:"waiting"`
	// for a push: entries that were not sent because they must not be shared
	RefusedEntries []SyncProblem `json:"kept"`
	// for a push: number of entries that have changed on the server, so that a pull would change them here
	PullableEntryCount int `json:"behind,omitempty"`
	// Number of entries that are missing in the home or on the server but do not count as removed. This happens if one
	// of the two histories was rewritten or belongs to another store.
	IgnoredRemovalCount int `json:"returns,omitempty"`
	// for a pull: the command undo can undo the changes that the pull made
	CanUndo bool `json:"undo,omitempty"`

	// for a pull: aliases that the home's entries did not get or have lost
	AliasesOfOtherEntries []oxbow.TakenAlias `json:"taken_aliases,omitempty"`

	// reason why the server could not be recorded for the home, or ""
	ServerNotRecordedReason string `json:"forgotten,omitempty"`
}

// SyncChange is an entry that a push changed on the server or a pull changed in the home.
type SyncChange struct {
	Name       string `json:"name"`
	OldName    string `json:"was,omitempty"` // name before the change, if the entry was renamed
	ChangeVerb string `json:"verb"`          // "add", "update" or "remove"
	IsConflict bool   `json:"conflict,omitempty"`
}

// SyncProblem is an entry that was not transferred. If IsConflict is set, the reason is a conflict. Otherwise, the
// field Reason contains the reason.
type SyncProblem struct {
	EntryName  string `json:"name"`
	IsConflict bool   `json:"both,omitempty"` // the entry was changed both in the home and on the server
	Reason     string `json:"why,omitempty"`
}

// Failed reports whether entries were not sent that should have been sent.
func (o SyncChangesOut) Failed() bool { return len(o.WaitingEntries) > 0 }

// CountConflicts returns the number of changes with a conflict. In a conflict, both sides have changed the same part of
// an entry, and both texts are kept.
func (o SyncChangesOut) CountConflicts() (n int) {
	for _, c := range o.Changes {
		if c.IsConflict {
			n++
		}
	}
	return n
}

// PushChanges sends the changes in the home to a server. If an entry was changed both in the home and on the server,
// PushChanges does not send the entry. The entry can be sent after [PullChanges] has merged it. An entry that
// [TeamShare] would refuse is not sent either. If in.DryRun is set, nothing is sent. PushChanges returns an error if
// the caller is not a person.
func PushChanges(ctx context.Context, w *verb.Workspace, in SyncChangesIn) (SyncChangesOut, error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "pushes to a server", "oxbow push"); err != nil {
		return SyncChangesOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return SyncChangesOut{}, err
	}
	ctx = oxbow.WithNote(ctx, "push")
	return runServerSync(ctx, w, "push", in, func(s *serverSync) (reconcile.Report, error) {
		return reconcile.Push(
			ctx,
			m,
			s.server,
			s.state,
			&reconcile.Options{
				DryRun:            in.DryRun,
				CheckMaySendEntry: checkMayShareEntry,
				Rand:              w.Host.Rand,
				WritePlanFile:     s.recordState,
				Progress:          progress.NewCountReporter(ctx, progress.UnitChanges),
			},
		)
	})
}

// PullChanges merges the changes on a server into the home, as a single change. New texts are trusted as little as
// imported texts, because others may have written them.
func PullChanges(ctx context.Context, w *verb.Workspace, in SyncChangesIn) (out SyncChangesOut, err error) {
	if err := verb.RequirePerson(w.WithSource(ctx), "pulls from a server", "oxbow pull"); err != nil {
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Create.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	out, err = runServerSync(ctx, w, "pull", in, func(s *serverSync) (reconcile.Report, error) {
		src, _ := oxbow.SourceFrom(ctx)
		src.Actor = oxbow.Imported
		src = src.WithOrigin(text.TruncateWithEllipsis(s.url, 200))
		ctx := oxbow.WithNote(oxbow.WithSource(ctx, src), text.TruncateWithEllipsis("pull from "+s.url, 200))
		return reconcile.Pull(
			ctx,
			m,
			s.server,
			s.state,
			&reconcile.Options{
				DryRun:        in.DryRun,
				Rand:          w.Host.Rand,
				WritePlanFile: s.recordState,
				Progress:      progress.NewCountReporter(ctx, progress.UnitChanges),
			},
		)
	})
	if _, herr := m.History(); herr == nil && !in.DryRun {
		out.CanUndo = len(out.Changes) > 0
	}
	return out, err
}

// serverSync is a connection to a server, with the state of the synchronization.
type serverSync struct {
	url       string
	tokenFile string
	stateFile string // path of the file that records the last synchronization
	server    *remote.Store
	state     *reconcile.State
	// Before the first change, writes to stateFile which changes this call is going to make.
	recordState func() error
}

// runServerSync connects to the server, calls fn, and then records the new state of the synchronization and the server.
// It records nothing in a dry run, or if fn fails before it has made a change. It returns an error if the home is not
// trusted. The argument verbName is "push" or "pull".
func runServerSync(
	ctx context.Context,
	w *verb.Workspace,
	verbName string,
	in SyncChangesIn,
	fn func(*serverSync) (reconcile.Report, error),
) (out SyncChangesOut, err error) {
	// Refuse a home that came with a cloned repository, because its entries must not be sent to a server.
	if err := ownership.CheckHomeTrusted(w); err != nil {
		return out, err
	}
	own := w.ExistingStorePath
	if verbName == "pull" && !in.DryRun {
		own = w.OwnStorePath // The command pull may create the home's store, so the store need not exist.
	}
	store, err := own(verbName)
	if err != nil {
		return out, err
	}
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	s, err := openServer(w, dir, p, verbName, in)
	if err != nil {
		return out, err
	}
	defer func() { _ = s.server.Close() }()
	rep, err := fn(s)
	out = makeSyncOut(s.url, in.DryRun, rep)
	hasSynced := err == nil || len(rep.Changes) > 0
	if hasSynced && !in.DryRun {
		err = errors.Join(err, s.state.Write(dir, s.stateFile))
		if rerr := w.Host.TrustList.AddServer(ctx, p.Home, s.url, s.tokenFile, w.CurrentTime()); rerr != nil {
			out.ServerNotRecordedReason = rerr.Error()
		}
	}
	return out, wrapServerError(s.url, verbName, len(rep.Changes), err)
}

func makeSyncOut(url string, dryRun bool, rep reconcile.Report) SyncChangesOut {
	out := SyncChangesOut{DryRun: dryRun, Server: url, Changes: []SyncChange{}, WaitingEntries: []SyncProblem{},
		RefusedEntries: []SyncProblem{}, PullableEntryCount: rep.ServerChangeCount,
		IgnoredRemovalCount:   rep.NotRemovedCount,
		AliasesOfOtherEntries: rep.TakenAliases}
	for _, c := range rep.Changes {
		out.Changes = append(out.Changes, SyncChange{c.Name, c.OldName, string(c.Verb), c.HasConflict})
	}
	for _, p := range rep.UnsentEntries {
		if errors.Is(p.Err, reconcile.ErrBothChanged) {
			out.WaitingEntries = append(out.WaitingEntries, SyncProblem{EntryName: p.Name, IsConflict: true})
		} else {
			out.WaitingEntries = append(out.WaitingEntries, SyncProblem{EntryName: p.Name, Reason: p.Err.Error()})
		}
	}
	for _, p := range rep.EntriesNotAllowedToSend {
		out.RefusedEntries = append(out.RefusedEntries, SyncProblem{EntryName: p.Name, Reason: p.Err.Error()})
	}
	return out
}

// openServer connects to the server whose URL is in.Server. If in.Server is empty, openServer connects to the server
// that is recorded for the home. It reads the server's token and the state of the last synchronization.
func openServer(w *verb.Workspace, dir vfs.FS, p verb.Place, verbName string, in SyncChangesIn) (*serverSync, error) {
	known, err := findServer(w, dir, p, verbName, in.Server)
	if err != nil {
		return nil, err
	}
	token, err := serverToken(w, &known, in.TokenFile)
	if err != nil {
		return nil, err
	}
	s := &serverSync{
		url:       known.URL,
		tokenFile: known.TokenFile,
		stateFile: reconcile.StateFile(filepath.Base(p.StorePath), known.URL),
	}
	s.state, err = reconcile.ReadState(dir, s.stateFile)
	if err != nil {
		return nil, err
	}
	s.state.URL = s.url
	s.recordState = func() error { return s.state.WritePlan(dir, s.stateFile) }
	transport := http.DefaultTransport.(*http.Transport).Clone()
	s.server, err = remote.Open(
		s.url,
		token,
		&remote.Options{
			Client:        &http.Client{Transport: minSpeedTransport{transport}},
			Rand:          w.Host.Rand,
			WaitForServer: newServerRetryWaiter(in.Sleep, in.ShowWait).waitFor,
		},
	)
	return s, err
}

// wrapServerError adds the server's URL and advice to an error that occurred during a push or pull. If
// completedChangeCount is not 0, it also adds how many changes were made before the error. It returns nil if err is
// nil.
func wrapServerError(url, verbName string, completedChangeCount int, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", url, err)
	if completedChangeCount > 0 {
		err = fmt.Errorf("%w (%d changes were made before)", err, completedChangeCount)
	}
	again := "; oxbow " + verbName + " goes on from here"
	var untrusted *tls.CertificateVerificationError
	var quota *oxbow.QuotaError
	var later *remote.RetryLaterError
	switch {
	case errors.As(err, &untrusted):
		return verb.Advise(
			err,
			"this machine does not trust the certificate of the server; SSL_CERT_FILE names another root",
		)
	case errors.As(err, &later):
		return verb.Advise(
			err,
			fmt.Sprintf("the server has too much to do: wait %v%s, and does nothing twice", later.RetryAfter, again),
		)
	case errors.As(err, &quota) && quota.Wait > 0:
		return verb.Advise(err, fmt.Sprintf("wait %d s%s", int((quota.Wait+time.Second-1)/time.Second), again))
	case errors.Is(err, oxbow.ErrQuota):
		return verb.Advise(err, "forget what is not needed there, or ask the one who runs the server for more"+again)
	case errors.Is(err, errSlowServer):
		return verb.Advise(err, "try again when the server or the line to it is better"+again+
			", and does nothing twice")
	case errors.Is(err, oxbow.ErrUnknownOutcome):
		return verb.Advise(err, "the last changes may have arrived"+again+", and does nothing twice")
	case errors.Is(err, oxbow.ErrReadOnly):
		return verb.Advise(err, "the token may read alone; ask the one who runs the server for one that may write")
	case verb.ErrorRemedy(err).String() != "":
		return err
	}
	return verb.Advise(err, "an oxbow server must run there, and its file of tokens must have the token"+again)
}
