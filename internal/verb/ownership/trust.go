// This file decides which homes in a project count as the user's own.

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

// TrustIn is the argument of Trust.
type TrustIn struct {
	List   bool `json:"list,omitempty"    jsonschema:"list the homes that you trust"`
	Revoke bool `json:"revoke,omitempty"  jsonschema:"withdraw the trust"`
	DryRun bool `json:"dry_run,omitempty" jsonschema:"show what would be recorded and change nothing"`
}

// TrustOut is the result of Trust.
type TrustOut struct {
	DryRun bool          `json:"dry_run,omitempty"`
	Home   string        `json:"home,omitempty"`
	Before trust.Verdict `json:"before,omitzero"`
	Did    string        `json:"did,omitempty"`  // "trusted", "revoked", or "" if nothing was done
	Runs   string        `json:"runs,omitempty"` // the settings with which sub-agents are started
	Homes  []trust.Home  `json:"homes,omitzero"` // set by a call with List
}

// Trust records that the home belongs to the user. With Revoke it removes the record, and with List
// it lists the records of all homes.
func Trust(ctx context.Context, w *verb.Workspace, in TrustIn) (TrustOut, error) {
	if in.List {
		return TrustOut{Homes: verb.NotNil(w.Host.Trusted.Homes())}, nil
	}
	p, err := w.Location()
	if err != nil {
		return TrustOut{}, err
	}
	command := "oxbow trust " + text.ShellQuote(p.Home)
	if err := verb.PersonOnly(w.WithSource(ctx), "decides which homes are trusted", command); err != nil {
		return TrustOut{}, err
	}
	out := TrustOut{DryRun: in.DryRun, Home: p.Home, Before: w.Host.Trusted.Judge(p.Home, p.Store)}
	if in.Revoke {
		if in.DryRun {
			out.Did = "revoked"
			return out, nil
		}
		was, err := w.Host.Trusted.Remove(ctx, p.Home)
		if was {
			out.Did = "revoked"
		}
		return out, err
	}
	if out.Before.State == trust.Refused {
		return out, verb.Advise(fmt.Errorf("%s cannot be trusted: %s", p.Home, out.Before.Why), out.Before.Mend)
	}
	if out.Before.IsTrackedLink {
		return out, verb.Advise(fmt.Errorf("%s cannot be trusted: %s", p.Home, out.Before.Why), out.Before.Mend)
	}
	settings := filepath.Join(p.Home, subagent.SettingsFile)
	if _, serr := os.Stat(settings); serr == nil {
		out.Runs = settings
	}
	if !mayBeHome(p.Home) {
		err = verb.NoMemory(p.Home)
	}
	out.Did = "trusted"
	if err != nil || in.DryRun {
		return out, err
	}
	_, err = w.Host.Trusted.Add(ctx, p.Home, p.Store, settings, w.Time())
	return out, err
}

// mayBeHome reports whether a path leads to a directory that may be a home, or to a file, which may be a store.
func mayBeHome(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	return !fi.IsDir() || trust.MayBeHome(path)
}

// Judge returns whether the memory's home is trusted. A home that the user named is the user's own.
func Judge(h *verb.Host, p verb.Place) trust.Verdict {
	if !p.Found {
		return trust.Verdict{State: trust.Own}
	}
	return h.Trusted.Judge(p.Home, p.Store)
}

// UntrustedError returns the error of a change to a foreign home. It matches [oxbow.ErrReadOnly].
func UntrustedError(home string) error {
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

// CheckSpool returns an error if the spool is a symbolic link, because prompts would be written to
// the link's target.
func CheckSpool(home string) error {
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

// TrustsPlace returns an error if the home is foreign, so that nothing in it is replaced.
func TrustsPlace(w *verb.Workspace) error {
	p, err := w.Location()
	if err == nil && Judge(w.Host, p).State == trust.Foreign {
		err = UntrustedError(p.Home)
	}
	return err
}

// SettingsCount reports whether a home's settings, which name programs to start, are the user's
// own. In a working tree of git they may have come with the tree, so only the settings that were
// trusted together with the home count.
func SettingsCount(h *verb.Host, home, settings string) bool {
	return !git.InTree(home) || h.Trusted.TrustsSettings(home, settings)
}

// Report lists the trusted homes, or tells what was done with one.
func (o TrustOut) Report() (r report.Report) {
	switch {
	case o.Home == "":
		for _, h := range o.Homes {
			how := report.Sentencef("%s since %s", report.Did(h.Made, "trusted", "made here"), h.Since)
			if h.Settings != "" {
				how = report.Sentencef("%s, with its settings", how)
			}
			r.Add(report.Record{Key: h.Path, Cells: []report.Cell{{Value: how}}})
		}
		if len(o.Homes) == 0 {
			r.Notef("no home is recorded as yours; a home outside of every project needs no record")
		}
	case o.Did == "":
		r.Linef("%s was not trusted; nothing was changed", o.Home)
	default:
		did := report.Words(o.Did)
		if o.DryRun {
			did = "would " + report.Did(o.Did == "revoked", "trust", "revoke the trust in")
		}
		r.Linef("%s: %s", did, o.Home)
		if o.Runs != "" {
			r.Linef("  sub-agents are started as %s says; read it", o.Runs)
		}
	}
	return r
}
