// This file implements the verb that reports whether injection is switched on.

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
	OffSwitches []string `json:"off_by"`      // what switches hooks off: variables as NAME=off, and paths of files
	ClientsOff  []string `json:"clients_off"` // clients for which oxbow setup has switched injection off
}

// HookState reports whether hooks show texts to models in this home and working directory. If not, OffSwitches lists
// the variables and files that prevent it. A client for which injection is switched off does not change IsOn.
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

// escapeGlob returns a pattern that matches only this directory. On Windows it returns the directory unchanged,
// because patterns there cannot contain escapes.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// Report prints whether injection is on, and otherwise what switches it off.
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
