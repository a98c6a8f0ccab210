// This file implements the verb that says whether hooks put texts before models.

package injection

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// StateIn is the argument of HookState.
type StateIn struct{}

// StateOut is the result of HookState.
type StateOut struct {
	IsOn        bool     `json:"on"`
	OffSwitches []string `json:"off_by"`      // variables, as NAME=off, and paths of files that switch hooks off
	ClientsOff  []string `json:"clients_off"` // clients for which setup has switched injection off
}

// HookState reports whether hooks put texts before models in this home and working directory. If they do not, the
// result lists the variables and files that switch hooks off. Clients that are switched off individually do not
// affect IsOn.
func HookState(_ context.Context, w *verb.Workspace, _ StateIn) (StateOut, error) {
	out := StateOut{OffSwitches: []string{}, ClientsOff: []string{}}
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	for _, name := range []string{"OXBOW_INJECT", "OXBOW_HOOKS"} {
		if w.Host.Getenv(name) == "off" {
			out.OffSwitches = append(out.OffSwitches, name+"=off")
		}
	}
	for _, name := range []string{InjectOffFile, HooksOffFile} {
		if path := FindOffFile(name, p.Dir(), w.Dir); path != "" {
			out.OffSwitches = append(out.OffSwitches, path)
		}
	}
	clients, err := filepath.Glob(filepath.Join(escapeGlob(p.Dir()), ClientInjectOffFile("*")))
	if err != nil {
		return out, err
	}
	for _, path := range clients {
		client := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "inject."), ".off")
		out.ClientsOff = append(out.ClientsOff, client)
	}
	out.IsOn = len(out.OffSwitches) == 0
	return out, nil
}

// escapeGlob returns the pattern that matches exactly this directory. Windows has no escapes.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// Report implements [report.Reporter].
func (o StateOut) Report() (r report.Report) {
	if o.IsOn {
		r.AddLinef("on: with a prompt, hooks put before a model what helps")
	}
	for _, by := range o.OffSwitches {
		r.AddLinef("off by %s", by)
	}
	for _, c := range o.ClientsOff {
		r.AddLinef("off for %s, as oxbow setup was told", c)
	}
	return r
}
