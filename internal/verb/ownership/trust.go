// This file decides which of the homes inside projects belong to the user.

package ownership

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/subagent"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// TrustHomeIn is the argument of TrustHome.
type TrustHomeIn struct {
	ShouldListHomes   bool `json:"list,omitempty"    jsonschema:"list the homes that you trust"`
	ShouldRevokeTrust bool `json:"revoke,omitempty"  jsonschema:"withdraw the trust"`
	DryRun            bool `json:"dry_run,omitempty" jsonschema:"show what would be recorded and change nothing"`
}

// TrustHomeOut is the result of TrustHome.
type TrustHomeOut struct {
	DryRun     bool                   `json:"dry_run,omitempty"`
	Home       string                 `json:"home,omitempty"`
	OldVerdict trust.OwnershipVerdict `json:"before,omitzero"`
	// "trusted", "revoked", or "" if nothing was changed
	TrustChange string `json:"did,omitempty"`
	// settings that specify how sub-agents are started
	SubAgentSettingsPath string `json:"runs,omitempty"`
	// all homes that the user trusts (only for a call with ShouldListHomes)
	Homes []trust.Home `json:"homes,omitzero"`
}

// TrustHome records that the home of the workspace belongs to the user. Only a person may do this. If
// in.ShouldRevokeTrust is true, TrustHome removes the record. If in.ShouldListHomes is true, it only lists the homes of
// all records. If in.DryRun is set, it changes nothing.
func TrustHome(ctx context.Context, w *verb.Workspace, in TrustHomeIn) (TrustHomeOut, error) {
	if in.ShouldListHomes {
		return TrustHomeOut{Homes: verb.EmptyIfNil(w.Host.TrustList.Homes())}, nil
	}
	p, err := w.FindPlace()
	if err != nil {
		return TrustHomeOut{}, err
	}
	command := "oxbow trust " + text.ShellQuote(p.Home)
	if err := verb.RequirePerson(w.WithSource(ctx), "decides which homes are trusted", command); err != nil {
		return TrustHomeOut{}, err
	}
	out := TrustHomeOut{DryRun: in.DryRun, Home: p.Home, OldVerdict: w.Host.TrustList.JudgeHome(p.Home, p.StorePath)}
	if in.ShouldRevokeTrust {
		if in.DryRun {
			out.TrustChange = "revoked"
			return out, nil
		}
		was, err := w.Host.TrustList.RevokeHomeTrust(ctx, p.Home)
		if was {
			out.TrustChange = "revoked"
		}
		return out, err
	}
	if out.OldVerdict.Ownership == trust.Refused {
		return out, verb.Advise(
			fmt.Errorf("%s cannot be trusted: %s", p.Home, out.OldVerdict.Reason),
			out.OldVerdict.Mend,
		)
	}
	if out.OldVerdict.IsHomeLinkTracked {
		return out, verb.Advise(
			fmt.Errorf("%s cannot be trusted: %s", p.Home, out.OldVerdict.Reason),
			out.OldVerdict.Mend,
		)
	}
	settings := filepath.Join(p.Home, subagent.SettingsFile)
	if _, serr := os.Stat(settings); serr == nil {
		out.SubAgentSettingsPath = settings
	}
	if !mayBeHomePath(p.Home) {
		err = verb.NoMemoryError(p.Home)
	}
	out.TrustChange = "trusted"
	if err != nil || in.DryRun {
		return out, err
	}
	_, err = w.Host.TrustList.TrustHome(ctx, p.Home, p.StorePath, settings, w.CurrentTime())
	return out, err
}

// mayBeHomePath reports whether a path may lead to a home or to its store. It returns true for a file, and for a
// directory whose content allows it to be a home.
func mayBeHomePath(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	return !fi.IsDir() || trust.MayDirBeHome(path)
}

// JudgeHomeTrust returns whether the home of the memory is trusted. A home that the user specified belongs to the user.
func JudgeHomeTrust(h *verb.Host, p verb.Place) trust.OwnershipVerdict {
	if !p.FoundFromWorkingDir {
		return trust.OwnershipVerdict{Ownership: trust.OwnHome}
	}
	return h.TrustList.JudgeHome(p.Home, p.StorePath)
}

// NewUntrustedError returns the error for a change to a home that does not belong to the user. The error matches
// [oxbow.ErrReadOnly].
func NewUntrustedError(home string) error {
	return verb.Advise(
		fmt.Errorf(
			"%s is not trusted: nothing is written to it, and no program is started by it: %w",
			home,
			oxbow.ErrReadOnly,
		),
		"look at what it holds with oxbow list; to take it for your own: oxbow trust "+text.ShellQuote(home)+
			"; for a memory of your own, give --home DIR",
	)
}

// CheckSpoolDir returns an error if the spool, the directory in the home into which hooks write their reports, is a
// symbolic link. Otherwise prompts could be written to any place that the link leads to.
func CheckSpoolDir(home string) error {
	spool := filepath.Join(home, session.SpoolDir)
	fi, err := os.Lstat(spool)
	if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return verb.Advise(
		fmt.Errorf("%s is a link: what hooks report is not kept in what it leads to", spool),
		"remove it",
	)
}

// CheckHomeTrusted returns an error if the home does not belong to the user, for example because it came with a cloned
// repository. Callers use it before they write or replace files in the home.
func CheckHomeTrusted(w *verb.Workspace) error {
	p, err := w.FindPlace()
	if err == nil && JudgeHomeTrust(w.Host, p).Ownership == trust.ForeignHome {
		err = NewUntrustedError(p.Home)
	}
	return err
}

// AreSettingsTrusted reports whether the settings of a home, which specify programs to start, belong to the user. If
// the home is in a working tree of git, the settings may also come from others. Therefore only the settings that were
// trusted together with the home belong to the user.
func AreSettingsTrusted(h *verb.Host, home, settings string) bool {
	return !git.IsInWorktree(home) || h.TrustList.TrustsSettings(home, settings)
}

// Report lists the trusted homes, or explains the call's effect on a home.
func (o TrustHomeOut) Report() (r report.Report) {
	switch {
	case o.Home == "":
		for _, h := range o.Homes {
			how := report.Sentencef(
				"%s since %s",
				report.EffectVerb(h.IsCreatedHere, "trusted", "made here"),
				h.RecordTime,
			)
			if h.SettingsDigest != "" {
				how = report.Sentencef("%s, with its settings", how)
			}
			r.Add(report.Record{Key: h.Path, Cells: []report.Cell{{Value: how}}})
		}
		if len(o.Homes) == 0 {
			r.AddNotef("no home is recorded as yours; a home outside of every project needs no record")
		}
	case o.TrustChange == "":
		r.AddLinef("%s was not trusted; nothing was changed", o.Home)
	default:
		did := report.OxbowText(o.TrustChange)
		if o.DryRun {
			did = "would " + report.EffectVerb(o.TrustChange == "revoked", "trust", "revoke the trust in")
		}
		r.AddLinef("%s: %s", did, o.Home)
		if o.SubAgentSettingsPath != "" {
			r.AddLinef("  sub-agents are started as %s says; read it", o.SubAgentSettingsPath)
		}
	}
	return r
}
