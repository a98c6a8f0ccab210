// This file implements the tenants of oxbow serve. Each tenant has a home of its own below the
// server's home.

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/tenant"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/web"
)

// tenants manages the homes that one server serves.
type tenants struct {
	app      *openMemory
	flags    serving
	at       runningServer
	sessions map[string]*web.Sessions // by tenant ("" is the server's own home)
	limits   map[string]*tenant.Limit // by tenant; kept when a home is closed
	pool     *tenant.Pool
	own      *doors // doors of the server's own home (nil if no token is for this home)
}

func (mem *openMemory) newTenants(flags serving, address runningServer) *tenants {
	mem.cache = &oxbow.Cache{Bytes: tenantsCache}
	t := &tenants{app: mem, flags: flags, at: address, sessions: map[string]*web.Sessions{},
		limits: map[string]*tenant.Limit{}}
	for _, name := range append(address.guard.Tokens.TenantNames(), "") {
		t.sessions[name] = web.NewSessions(name, mem.env.Now, mem.env.Rand)
	}
	for name, q := range address.quotas {
		t.limits[name] = tenant.NewLimit(q, time.Now)
	}
	t.pool = tenant.New(t.openTenant, &tenant.Options{Most: flags.Most, Logger: mem.env.serverLog()})
	return t
}

// handler returns the handler for all requests of the server.
func (t *tenants) handler(ctx context.Context, described http.Handler) (http.Handler, error) {
	g := t.at.guard.ForTenant("")
	outside := t.app.noDoors(g)
	hasSignIn := g.Verify != nil && t.flags.OIDC.Claim == "" // by a provider, without tenants
	if hasSignIn || len(g.Tokens) > 0 {
		var err error
		t.own, err = t.app.openDoors(ctx, t.flags, g, t.sessions[""])
		if err != nil {
			return nil, err
		}
		outside = t.own
	}
	s := &tenant.Server{Pool: t.pool, Guard: t.at.guard, Outside: outside, Visitor: t.visitor,
		Logger: t.app.env.serverLog(), Metrics: tenant.NewMetrics(moduleVersion(), time.Now()), Described: described}
	if e := t.app.elsewhere; e != nil {
		s.Health = tenant.NewHealth(e.memories.Ready, time.Now)
	}
	return s, nil
}

// visitor returns the tenant whose pages a browser is signed in to, or "" if there is none.
func (t *tenants) visitor(w http.ResponseWriter, r *http.Request) string {
	name, isSignedIn := web.RequestTenant(w, r, t.at.guard.Tokens)
	s := t.sessions[name]
	if s == nil {
		return ""
	}
	if !isSignedIn && !s.Know(r) {
		return ""
	}
	return name
}

// signInLinks returns lines with a link for each home, which signs a person in. If standard error is
// not a terminal, links of tenants are left out, because they are secrets that must not be kept
// in a log.
func (t *tenants) signInLinks(address runningServer) (string, error) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.sessions)) {
		switch {
		case name == "" && t.own == nil:
			continue
		case name != "" && !t.app.env.StderrTerm:
			fmt.Fprintf(&b, "  pages   %s/ui/ with a token of a tenant\n", address.url)
			return b.String(), nil
		}
		link, err := t.app.link(t.sessions[name], "")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "  pages   %s%s\n", address.url+link, strings.TrimSuffix(" of tenant "+name, " of tenant "))
	}
	return b.String(), nil
}

// close closes all homes.
func (t *tenants) close() error {
	err := t.pool.Close()
	if t.own != nil {
		err = errors.Join(err, t.own.Close())
	}
	return err
}

// ofAll lists the environment variables that apply to all homes of a server.
var ofAll = []string{"OXBOW_KEEP", "OXBOW_NETWORK_FS", "OXBOW_EMBED", "OXBOW_EMBED_MODEL", "OXBOW_EMBED_KEY",
	"OXBOW_PROFILE"}

// tenantsCache is the maximum size, in bytes, of the entry cache that all memories share.
const tenantsCache = 256 << 20

var errNoDir = errors.New("a tenant has no working directory")

// openTenant opens the home of a tenant as a separate run, which has neither the server's working
// directory nor its user or environment.
func (t *tenants) openTenant(ctx context.Context, name string) (tenant.Home, error) {
	home, err := t.app.finder.home()
	err = errors.Join(err, auth.CheckTenant(name))
	if err != nil {
		return nil, err
	}
	env := t.app.env.Env
	env.Environ, env.Executable = nil, ""
	env.Getwd = func() (string, error) { return "", errNoDir }
	env.Getenv = func(v string) string {
		if slices.Contains(ofAll, v) {
			return t.app.env.Getenv(v)
		}
		return ""
	}
	mem := newOpenMemory(env)
	mem.tenant = true
	mem.finder.homeFlag = filepath.Join(home, maintenance.TenantsDir, name)
	mem.command = t.app.command
	mem.finder.network = t.app.finder.network
	mem.embedFlag = t.app.embedFlag
	mem.modelFlag = t.app.modelFlag
	mem.profileFlag = t.app.profileFlag
	mem.allowSecret = t.app.allowSecret
	mem.limit, mem.cache = t.limits[name], t.app.cache
	if e := t.app.elsewhere; e != nil {
		mem.elsewhere, mem.finder.store = e, e.opener(name)
	}
	if err := os.MkdirAll(mem.finder.homeFlag, 0o700); err != nil {
		return nil, err
	}
	d, err := mem.openDoors(ctx, t.flags, t.at.guard.ForTenant(name), t.sessions[name])
	if err != nil {
		return nil, errors.Join(err, mem.close(ctx))
	}
	done := d.close
	d.close = func() error {
		if err := errors.Join(done(), mem.close(context.Background())); !errors.Is(err, oxbow.ErrClosed) {
			return err
		}
		return nil
	}
	return d, nil
}

// link returns a link that signs the user of this run in.
func (mem *openMemory) link(browsers *web.Sessions, path string) (string, error) {
	src, err := mem.source()
	if err != nil {
		return "", err
	}
	return browsers.Link(path, src.Actor)
}
