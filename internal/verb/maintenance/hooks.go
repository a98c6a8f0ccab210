// This file records the failures of hooks, so that the command "oxbow doctor" can report them. Hooks themselves print
// nothing about their failures.

package maintenance

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/vfs"
)

// HookFailure is the failure of a hook that a client ran.
type HookFailure struct {
	Client string    `json:"client"`
	Error  string    `json:"error"`
	Time   time.Time `json:"time"`
}

// hookFailureLifetime is how long oxbow doctor reports the last failure of a hook.
const hookFailureLifetime = 7 * 24 * time.Hour

func hookFailurePath(homeDir string) string {
	return filepath.Join(homeDir, session.SpoolDir, "failure.json")
}

// Save stores the hook's failure in the home, where the command oxbow doctor reads it. It replaces the previous
// failure. It does nothing if the home is missing or unwritable.
func (f HookFailure) Save(home string) {
	// Use a nil cleaner. It hides secrets like other cleaners, but has no key of the home. Without a key, all secrets
	// get the same mark, so that nobody can see whether two secrets are equal. That is enough for an error message.
	var cleaner *screen.SecretCleaner
	f.Client = text.TruncateWithEllipsis(cleaner.CleanText(strings.ToValidUTF8(f.Client, "")), 40)
	f.Error = cleaner.CleanText(f.Error)
	_ = os.Mkdir(filepath.Dir(hookFailurePath(home)), 0o700) // The directory may exist already.
	dir, err := vfs.Dir(filepath.Dir(hookFailurePath(home)))
	if err != nil {
		return
	}
	defer dir.Close()
	vfs.RemoveDrafts(dir, filepath.Base(hookFailurePath(home)))
	if b, err := json.Marshal(f); err == nil &&
		vfs.WriteDerived(dir, filepath.Base(hookFailurePath(home)), 0o600, b) != nil {
		// On a full disk, store at least the time of the failure, by creating an empty file.
		_ = os.WriteFile(hookFailurePath(home), nil, 0o600)
	}
}

// lastHookFailure returns the last failure of a hook. If the file with the failure is damaged, which happens if the
// disk was full, only the time of the failure is known. The result ok is false if there is no such file.
func lastHookFailure(homeDir string) (f HookFailure, ok bool) {
	b, err := os.ReadFile(hookFailurePath(homeDir))
	if err != nil || json.Unmarshal(b, &f) == nil {
		return f, err == nil
	}
	fi, err := os.Stat(hookFailurePath(homeDir))
	if err != nil {
		return f, false
	}
	return HookFailure{"a client", "why could not be written either, as on a full disk", fi.ModTime()}, true
}

// checkFingerprints adds a finding if fingerprints of texts that agents have read were lost.
func (d *diagnosis) checkFingerprints(spool string) {
	l, ok := fingerprint.Store{Dir: spool, Now: d.workspace.CurrentTime}.LastFingerprintLoss()
	if !ok {
		return
	}
	d.addFinding(findingLevelWarning, "hooks", "oxbow approve NAME lets a note that you have read count again",
		"the fingerprints of what agents had read were lost at %s (%s): until %s what agents write is kept and "+
			"found, but not shown unasked",
		d.workspace.FormatDate(l.LossTime), l.LossReason, d.workspace.FormatDate(l.EndTime))
}

// checkHookReports adds findings about the parts of transcripts that hooks left out, because the type was unknown or a
// line could not be read. It ignores reports that are older than hookFailureLifetime. The next import of sessions
// reports the same parts and removes the hooks' reports.
func (d *diagnosis) checkHookReports(spoolDir string) {
	const about = "hooks"
	reports, err := transcript.HookReportStore{Dir: spoolDir}.List()
	if err != nil {
		d.addErrorFinding(about, err)
		return
	}
	for _, r := range reports {
		if d.workspace.CurrentTime().Sub(r.Time) > hookFailureLifetime {
			continue
		}
		const remedy = "update oxbow if there is a newer version; oxbow session import ends this warning"
		for _, parts := range r.Report.DescribeUnknownParts() {
			d.addFinding(
				findingLevelWarning,
				about,
				remedy,
				"left out of sessions of %s, because oxbow does not know the type: %s",
				r.Client,
				parts,
			)
		}
		if lines := r.Report.FirstBadLines; len(lines) > 0 {
			d.addFinding(
				findingLevelWarning,
				about,
				remedy,
				"%s of %s could not be read, first %s",
				text.FormatCount(r.Report.BadLines, "line", "lines"),
				r.Client,
				lines[0],
			)
		}
	}
}

// checkHooks checks the spool and the archive, to which hooks write, and adds a finding about the last failure of a
// hook. If isFullCheck is set, it reads the whole archive.
func (d *diagnosis) checkHooks(ctx context.Context, isFullCheck bool) {
	const about = "hooks"
	spool := filepath.Join(d.storeDir, session.SpoolDir)
	fi, err := os.Stat(spool)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.addErrorFinding(about, err)
	case err == nil && !fi.IsDir():
		d.addFinding(
			findingLevelProblem,
			about,
			"move it away",
			"%s is not a directory: what hooks report is lost",
			spool,
		)
	case err == nil && !sysinfo.IsWritable(spool):
		d.addFinding(
			findingLevelProblem,
			about,
			"change its owner or mode",
			"%s may not be written by this user: what hooks report is lost",
			spool,
		)
	}
	if f, ok := lastHookFailure(d.storeDir); ok && d.workspace.CurrentTime().Sub(f.Time) <= hookFailureLifetime {
		d.addFinding(
			findingLevelWarning,
			about,
			"what the client has kept itself comes with oxbow session import",
			"a hook of %s could not keep what it was given at %s: %s",
			f.Client,
			d.workspace.FormatDate(f.Time),
			f.Error,
		)
	}
	d.checkFingerprints(spool)
	d.checkHookReports(spool)
	examine := openStoreFile
	if isFullCheck {
		examine = checkStoreFile
	}
	out, err := checkSessions(ctx, d.workspace, examine)
	switch {
	case err != nil && ctx.Err() == nil:
		d.addErrorFinding("sessions", err)
	case out != nil:
		for _, p := range out.Problems {
			d.addFinding(findingLevelProblem, "sessions", p.Mend, "%s: %s", out.StorePath, p.Description)
		}
		if out.WaitingProposals > 0 {
			d.addFinding(
				findingLevelOK,
				"inbox",
				"",
				"%s; oxbow inbox shows what",
				text.FormatCount(out.WaitingProposals, "proposal waits", "proposals wait"),
			)
		}
	}
}

// checkHookSwitches adds a finding that says which hooks are switched off.
func (d *diagnosis) checkHookSwitches() {
	const about, mend = "hooks", "remove that file"
	getenv := func(string) string { return "" }
	if d.workspace.Host != nil && d.workspace.Host.Getenv != nil {
		getenv = d.workspace.Host.Getenv
	}
	if path := injection.FindInjectionOffFile(injection.HooksOffFile, d.storeDir, d.workspace.Dir); path != "" {
		d.addFinding(findingLevelWarning, about, mend, "%s switches hooks off: nothing of sessions is kept", path)
	}
	if path := injection.FindInjectionOffFile(injection.InjectionOffFile, d.storeDir, d.workspace.Dir); path != "" {
		d.addFinding(
			findingLevelOK,
			about,
			"oxbow inject on, with --project when it is in a project",
			"%s switches off what hooks put before a model",
			path,
		)
	}
	for _, c := range setup.Clients() {
		if path := filepath.Join(d.storeDir, injection.ClientInjectionOffFile(c.Name)); pathExists(path) {
			d.addFinding(findingLevelOK, about, "oxbow setup "+
				c.Name, "%s switches off what hooks put before the model of %s (setup --no-inject)", path, c.Title)
		}
	}
	for name, what := range map[string]string{"OXBOW_HOOKS": "hooks", "OXBOW_INJECT": "what hooks put before a model"} {
		if getenv(name) == "off" {
			d.addFinding(
				findingLevelOK,
				about,
				"",
				"%s=off switches off %s in clients that are started here",
				name,
				what,
			)
		}
	}
}

func pathExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
