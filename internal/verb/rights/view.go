// This file implements views. A view gives a client access to the memory, restricted to the client's rights.

// Package rights limits the data that a client of a server may see and change. A server can offer several interfaces,
// such as HTTP and MCP, which are called doors. A server has a single [Options] for all its doors, and creates a
// [MemoryView] for each token. Each request uses only the memory as the client's MemoryView shows it, so that the doors
// need not check rights.
package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
)

// ErrBoundProfile is returned if a client that is bound to a profile requests another profile.
var ErrBoundProfile = errors.New("bound to another profile")

// Options apply to all clients of a server.
type Options struct {
	// Workspace is the workspace that a client without any restrictions uses.
	Workspace *verb.Workspace
	// Profiles contains the memory profiles that clients may request. It may be nil.
	Profiles *profile.Set
	// BoundProfile is the profile that already restricts the memory of the workspace. It may be nil. If it is set,
	// clients cannot request another profile.
	BoundProfile *profile.Resolved
	// Rights restrict all clients, in addition to BoundProfile and to the rights of each client.
	Rights auth.Permissions
}

// A MemoryView is the memory in the form in which clients with the same rights see it.
type MemoryView struct {
	Token        string // name of the token ("" if the server has a single token, which lacks a name)
	Rights       auth.Permissions
	BoundProfile *profile.Resolved // profile that restricts the entries that the client sees (may be nil)
	IsRestricted bool              // the client sees only a part of the memory that a client without restrictions sees
	Workspace    *verb.Workspace

	options *Options
	// scopes that restrict the memory of options.Workspace for this client, in the order in which they are applied
	clientScopes []scope.Scope
}

// MakeView returns the part of the memory that a client with the token t may see. This part is restricted by the
// server's rights (o.Rights), the server's profile (o.BoundProfile), the token's rights, and the profile with the name
// profileName. The name "" requests no profile.
//
// If the server or the token is bound to another profile than the requested one, the error matches [ErrBoundProfile].
// If the profile does not exist, the error matches [oxbow.ErrInvalid]. If the profile is not valid, the error is a
// [profile.Diagnostics].
func (o *Options) MakeView(t auth.Token, profileName string) (*MemoryView, error) {
	own := o.Rights
	if o.BoundProfile != nil {
		own.Profile = o.BoundProfile.Name
	}
	rights, err := own.Intersect(t.Rights)
	if err != nil {
		return nil, err
	}
	hasOther := rights.Profile != "" && rights.Profile != profileName
	if profileName != "" && hasOther {
		return nil, fmt.Errorf("%w: you see profile %q, and nothing through another", ErrBoundProfile, rights.Profile)
	}
	if profileName != "" {
		rights.Profile = profileName
	}
	v := &MemoryView{Token: t.Name, Rights: rights, options: o}
	below, err := v.bindProfile(t)
	if err != nil {
		return nil, err
	}
	w := *o.Workspace
	v.IsRestricted = len(v.clientScopes) > 0
	if v.IsRestricted {
		w.Open = v.restrictedMemoryOpener()
		w.Sessions, w.Kept = v.restrictedArchiveOpener(
			o.Workspace.Sessions,
		), v.restrictedArchiveOpener(
			o.Workspace.Kept,
		)
	}
	if v.BoundProfile != nil {
		w.Source.Profile = v.BoundProfile.Name
	}
	if v.IsPartial() {
		v.removeDataOutsideMemory(&w)
	}
	if !v.maySeeWorkingTree() {
		w.Annotations, w.Project = nil, nil
	}
	if o.Profiles != nil {
		w.Profiles = &verb.Profiles{
			Set:               o.Profiles,
			IsProfileVisible:  v.MaySeeProfile,
			IsDocumentVisible: v.MayShowDocument,
			RestrictScope:     func(s scope.Scope) scope.Scope { return auth.FitAddedLabelsToScopes(s, below...) },
		}
	}
	v.Workspace = &w
	return v, nil
}

// bindProfile restricts the entries that the client sees to those of a profile and to the rights of the token t. It
// returns all scopes that restrict the client. The profile is that of the server, which is already applied to the
// memory, or otherwise the profile that the client's rights name, if any. If this profile cannot be resolved,
// bindProfile returns an error.
func (v *MemoryView) bindProfile(t auth.Token) (restrictingScopes []scope.Scope, err error) {
	switch o := v.options; {
	case o.BoundProfile != nil: // The memory of the workspace is already restricted to the scope of this profile.
		v.BoundProfile = o.BoundProfile
		restrictingScopes = append(restrictingScopes, v.BoundProfile.Scope())
	case v.Rights.Profile != "":
		if o.Profiles == nil {
			return nil, &profile.UnknownError{Name: v.Rights.Profile}
		}
		r, err := o.Profiles.Resolve(v.Rights.Profile)
		if err != nil {
			return nil, err
		}
		v.BoundProfile = &r
		v.clientScopes = append(v.clientScopes, r.Scope())
		restrictingScopes = append(restrictingScopes, r.Scope())
	}
	if top, ok := v.Rights.Scope(t.Title(), restrictingScopes...); ok {
		v.clientScopes = append(v.clientScopes, top)
		restrictingScopes = append(restrictingScopes, top)
	}
	return restrictingScopes, nil
}

// IsPartial reports whether a part of the memory may be invisible in the view.
func (v *MemoryView) IsPartial() bool { return v.BoundProfile != nil || v.Rights.AreLimited() }

// removeDataOutsideMemory removes from the workspace data that a client of this view must not see. It removes the
// location of the memory's file, the home, the host, the working directory and the skills. If v.BoundProfile is set, it
// also makes the loader use only this profile.
func (v *MemoryView) removeDataOutsideMemory(w *verb.Workspace) {
	w.Place = nil
	w.Host = nil
	w.Home = nil
	w.Dir = ""
	load := w.Loader
	if load == nil {
		return
	}
	w.Loader = func() (*handoff.Loader, error) {
		l, err := load()
		if err != nil {
			return nil, err
		}
		own := *l
		own.Skills = &skill.Set{}
		if v.BoundProfile != nil {
			own.RestrictingProfile = v.BoundProfile
		}
		return &own, nil
	}
}

// restrictedMemoryOpener returns a function that opens the memory and restricts it to the entries that the client may
// see. The function creates the restricted memory only once.
func (v *MemoryView) restrictedMemoryOpener() func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
	open := v.options.Workspace.Open
	var mu sync.Mutex // guards the map bound
	bound := map[*oxbow.Memory]*oxbow.Memory{}
	return func(ctx context.Context, how verb.MemoryAccess) (*oxbow.Memory, error) {
		all, err := open(ctx, how)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		m := bound[all]
		if m == nil {
			m = all
			for _, s := range v.clientScopes {
				m = scope.Within(m, s)
			}
			bound[all] = m
		}
		return m, nil
	}
}

// restrictedArchiveOpener returns a function that opens the session archive and restricts it to the sessions that the
// client may see.
func (v *MemoryView) restrictedArchiveOpener(
	open func(context.Context) (*session.Archive, error),
) func(context.Context) (*session.Archive, error) {
	if open == nil {
		return nil
	}
	return func(ctx context.Context) (*session.Archive, error) {
		a, err := open(ctx)
		if err != nil || a == nil {
			return nil, err
		}
		narrow := *a
		for _, s := range v.clientScopes {
			narrow.Memory = scope.Within(narrow.Memory, s)
		}
		return &narrow, nil
	}
}

// maySeeWorkingTree reports whether the client may see the working tree. The working tree belongs to a single project
// and lacks a kind. Therefore a client with rights for certain kinds or for other projects may not see it.
func (v *MemoryView) maySeeWorkingTree() bool {
	d := v.options.Workspace
	switch {
	case d.Annotations == nil || len(v.Rights.Kinds) > 0:
		return false
	case len(v.Rights.Projects) == 0:
		return true
	}
	return d.Project != nil && slices.Contains(v.Rights.Projects, d.Project())
}

// MaySeeProfile reports whether the client may request the profile with this name. A client that is bound to a profile
// may request only that profile. If the client's rights are limited to certain projects, the profile must include one
// of these projects, or must not be limited to projects. If the profile cannot be resolved, such a client gets false.
// All other clients may request every profile.
func (v *MemoryView) MaySeeProfile(name string) bool {
	if v.BoundProfile != nil {
		return name == v.BoundProfile.Name
	}
	if len(v.Rights.Projects) == 0 {
		return true
	}
	r, err := v.options.Profiles.Resolve(name)
	if err != nil {
		return false
	}
	for _, t := range r.Scope().Only {
		if t.Key == oxbow.LabelProject {
			return slices.ContainsFunc(t.Values, func(p string) bool { return slices.Contains(v.Rights.Projects, p) })
		}
	}
	return true
}

// MayShowDocument reports whether a document may be shown to the client. A document, unlike an entry, does not have a
// project or a kind that could be compared with the client's rights. Therefore a client with restricted rights sees
// only the documents of its profile.
func (v *MemoryView) MayShowDocument(d profile.Document) bool {
	if v.BoundProfile != nil {
		return slices.Contains(v.BoundProfile.Documents, d)
	}
	return !v.Rights.AreLimited()
}
