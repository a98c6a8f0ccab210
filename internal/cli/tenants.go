// This file implements the tenants of oxbow serve. The home of each tenant is below the server's home.

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

// tenantHomeManager manages all homes that one server serves.
type tenantHomeManager struct {
	mem              *lazyMemory
	flags            serverFlags
	server           runningServer
	sessionsByTenant map[string]*web.BrowserSessions // browser sessions of each tenant ("" is the server's own home)
	// Write limits of each tenant, which are kept when its home is closed.
	limitsByTenant    map[string]*tenant.Limit
	pool              *tenant.Pool
	serverHomeHandler *homeHandler // handler for the server's own home (nil if no token is for this home)
}

func (mem *lazyMemory) newTenants(flags serverFlags, server runningServer) *tenantHomeManager {
	mem.sharedCache = &oxbow.Cache{Bytes: tenantCacheBytes}
	t := &tenantHomeManager{mem: mem, flags: flags, server: server, sessionsByTenant: map[string]*web.BrowserSessions{},
		limitsByTenant: map[string]*tenant.Limit{}}
	for _, name := range append(server.guard.Tokens.TenantNames(), "") {
		t.sessionsByTenant[name] = web.NewSessions(name, mem.env.Now, mem.env.Rand)
	}
	for name, q := range server.quotasByTenant {
		t.limitsByTenant[name] = tenant.NewLimit(q, time.Now)
	}
	t.pool = tenant.New(
		t.openTenant,
		&tenant.Options{MaxOpenHomes: flags.MaxOpenTenants, Logger: mem.env.newServerLogger()},
	)
	return t
}

// newHandler returns the handler for all requests to the server.
func (t *tenantHomeManager) newHandler(ctx context.Context, metadataHandler http.Handler) (http.Handler, error) {
	g := t.server.guard.ForTenant("")
	outside := t.mem.newHandlerWithoutMemory(g)
	// hasSignIn is true if people sign in with the identity provider and their tokens do not name a tenant.
	hasSignIn := g.VerifySecret != nil && t.flags.OIDC.TenantClaim == ""
	if hasSignIn || len(g.Tokens) > 0 {
		var err error
		t.serverHomeHandler, err = t.mem.openHomeHandler(ctx, t.flags, g, t.sessionsByTenant[""])
		if err != nil {
			return nil, err
		}
		outside = t.serverHomeHandler
	}
	s := &tenant.Server{Pool: t.pool, Guard: t.server.guard, NoTenantHandler: outside, VisitorTenant: t.signedInTenant,
		Logger: t.mem.env.newServerLogger(), Metrics: tenant.NewMetrics(moduleVersion(),
			time.Now()), MetadataHandler: metadataHandler}
	if e := t.mem.daemonMemories; e != nil {
		s.Health = tenant.NewHealth(e.memories.Ready, time.Now)
	}
	return s, nil
}

// signedInTenant returns the name of the tenant (one of the server's users) to whom the request belongs. The browser
// must be signed in, or must sign in by this request with a valid token or a valid link. Otherwise signedInTenant
// returns "".
func (t *tenantHomeManager) signedInTenant(w http.ResponseWriter, r *http.Request) string {
	name, isSignedIn := web.FindRequestTenant(w, r, t.server.guard.Tokens)
	s := t.sessionsByTenant[name]
	if s == nil {
		return ""
	}
	if !isSignedIn && !s.IsKnownBrowser(r) {
		return ""
	}
	return name
}

// signInLinks returns lines of text, each with a link that signs a person in to one of the homes. The links are secrets
// that must not be kept in a log. If standard error is not a terminal, it may be a log. The links of tenants are then
// left out, and the last line tells the person to sign in with a tenant's token instead.
func (t *tenantHomeManager) signInLinks(server runningServer) (string, error) {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t.sessionsByTenant)) {
		switch {
		case name == "" && t.serverHomeHandler == nil:
			continue
		case name != "" && !t.mem.env.IsStderrTerminal:
			fmt.Fprintf(&b, "  pages   %s/ui/ with a token of a tenant\n", server.url)
			return b.String(), nil
		}
		link, err := t.mem.newSignInLink(t.sessionsByTenant[name], "")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "  pages   %s%s\n", server.url+link, strings.TrimSuffix(" of tenant "+name, " of tenant "))
	}
	return b.String(), nil
}

// close closes the homes of all tenants and the server's own home.
func (t *tenantHomeManager) close() error {
	err := t.pool.Close()
	if t.serverHomeHandler != nil {
		err = errors.Join(err, t.serverHomeHandler.Close())
	}
	return err
}

// serverWideVariables lists the environment variables that apply to all homes of a server.
var serverWideVariables = []string{
	"OXBOW_KEEP",
	"OXBOW_NETWORK_FS",
	"OXBOW_EMBED",
	"OXBOW_EMBED_MODEL",
	"OXBOW_EMBED_KEY",
	"OXBOW_PROFILE",
}

// tenantCacheBytes is the maximum size of the entry cache that all memories share, in bytes.
const tenantCacheBytes = 256 << 20

var errNoWorkingDir = errors.New("a tenant has no working directory")

// openTenant opens the home of the tenant with the given name, and returns its handler. The home is opened as a
// separate process would open it. Such a process has no working directory and no user. Of the server's environment
// variables, it has only those in serverWideVariables.
func (t *tenantHomeManager) openTenant(ctx context.Context, name string) (tenant.TenantHome, error) {
	home, err := t.mem.finder.homePath()
	err = errors.Join(err, auth.CheckTenant(name))
	if err != nil {
		return nil, err
	}
	env := t.mem.env.Env
	env.Environ, env.Executable = nil, ""
	env.Getwd = func() (string, error) { return "", errNoWorkingDir }
	env.Getenv = func(v string) string {
		if slices.Contains(serverWideVariables, v) {
			return t.mem.env.Getenv(v)
		}
		return ""
	}
	mem := newLazyMemory(env)
	mem.isTenantHome = true
	mem.finder.homeFlag = filepath.Join(home, maintenance.TenantsDir, name)
	mem.commandPath = t.mem.commandPath
	mem.finder.allowsNetworkFS = t.mem.finder.allowsNetworkFS
	mem.embedFlag = t.mem.embedFlag
	mem.modelFlag = t.mem.modelFlag
	mem.profileFlag = t.mem.profileFlag
	mem.allowSecret = t.mem.allowSecret
	mem.writeLimit, mem.sharedCache = t.limitsByTenant[name], t.mem.sharedCache
	if e := t.mem.daemonMemories; e != nil {
		mem.daemonMemories, mem.finder.openStore = e, e.tenantOpener(name)
	}
	if err := os.MkdirAll(mem.finder.homeFlag, 0o700); err != nil {
		return nil, err
	}
	d, err := mem.openHomeHandler(ctx, t.flags, t.server.guard.ForTenant(name), t.sessionsByTenant[name])
	if err != nil {
		return nil, errors.Join(err, mem.close(ctx))
	}
	done := d.closeHome
	d.closeHome = func() error {
		if err := errors.Join(done(), mem.close(context.Background())); !errors.Is(err, oxbow.ErrClosed) {
			return err
		}
		return nil
	}
	return d, nil
}

// newSignInLink returns a link that signs a browser in as the person or agent that started this run. After signing in,
// the browser opens the page with the given path, or the first page if path is "".
func (mem *lazyMemory) newSignInLink(browserSessions *web.BrowserSessions, path string) (string, error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return "", err
	}
	return browserSessions.SignInLink(path, src.Actor)
}
