// This file implements the verb that reports whether injection is switched on.

package injection

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// HookStateIn is the argument of ReportHookState.
type HookStateIn struct{}

// HookStateOut is the result of ReportHookState.
type HookStateOut struct {
	AreHooksOn bool `json:"on"`
	// what switches hooks off: variables as NAME=off, and paths of files
	DisablingSettings []string `json:"off_by"`
	DisabledClients   []string `json:"clients_off"` // clients for which oxbow setup has switched injection off
}

// ReportHookState reports in AreHooksOn whether hooks show texts to models in this home and working directory. If they
// do not, DisablingSettings lists the variables and files that prevent it. DisabledClients lists the clients for which
// injection is switched off. These clients do not affect AreHooksOn.
func ReportHookState(_ context.Context, w *verb.Workspace, _ HookStateIn) (HookStateOut, error) {
	out := HookStateOut{DisablingSettings: []string{}, DisabledClients: []string{}}
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	for _, name := range []string{"OXBOW_INJECT", "OXBOW_HOOKS"} {
		if w.Host.Getenv(name) == "off" {
			out.DisablingSettings = append(out.DisablingSettings, name+"=off")
		}
	}
	for _, name := range []string{InjectionOffFile, HooksOffFile} {
		if path := FindInjectionOffFile(name, p.Dir(), w.Dir); path != "" {
			out.DisablingSettings = append(out.DisablingSettings, path)
		}
	}
	clients, err := filepath.Glob(filepath.Join(escapeGlob(p.Dir()), ClientInjectionOffFile("*")))
	if err != nil {
		return out, err
	}
	for _, path := range clients {
		client := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "inject."), ".off")
		out.DisabledClients = append(out.DisabledClients, client)
	}
	out.AreHooksOn = len(out.DisablingSettings) == 0
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

// Report returns a report about whether the injection of memory by hooks is on. If injection is off, the report lists
// the settings that switch it off. It also lists the clients for which injection is off.
func (o HookStateOut) Report() (r report.Report) {
	if o.AreHooksOn {
		r.AddLinef("on: with a prompt, hooks put before a model what helps")
	}
	for _, by := range o.DisablingSettings {
		r.AddLinef("off by %s", by)
	}
	for _, c := range o.DisabledClients {
		r.AddLinef("off for %s, as oxbow setup was told", c)
	}
	return r
}
