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

// HookStateOut is the result of HookState.
type HookStateOut struct {
	AreHooksOn      bool     `json:"on"`
	HookOffSwitches []string `json:"off_by"`      // what switches hooks off: variables as NAME=off, and paths of files
	ClientsOff      []string `json:"clients_off"` // clients for which oxbow setup has switched injection off
}

// HookState reports in AreHooksOn whether hooks show texts to models in this home and working directory. If they do
// not, HookOffSwitches lists the variables and files that prevent it. ClientsOff lists the clients for which injection
// is switched off. These clients do not affect AreHooksOn.
func HookState(_ context.Context, w *verb.Workspace, _ StateIn) (HookStateOut, error) {
	out := HookStateOut{HookOffSwitches: []string{}, ClientsOff: []string{}}
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	for _, name := range []string{"OXBOW_INJECT", "OXBOW_HOOKS"} {
		if w.Host.Getenv(name) == "off" {
			out.HookOffSwitches = append(out.HookOffSwitches, name+"=off")
		}
	}
	for _, name := range []string{InjectOffFile, HooksOffFile} {
		if path := FindSwitchOffFile(name, p.Dir(), w.Dir); path != "" {
			out.HookOffSwitches = append(out.HookOffSwitches, path)
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
	out.AreHooksOn = len(out.HookOffSwitches) == 0
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
func (o HookStateOut) Report() (r report.Report) {
	if o.AreHooksOn {
		r.AddLinef("on: with a prompt, hooks put before a model what helps")
	}
	for _, by := range o.HookOffSwitches {
		r.AddLinef("off by %s", by)
	}
	for _, c := range o.ClientsOff {
		r.AddLinef("off for %s, as oxbow setup was told", c)
	}
	return r
}
