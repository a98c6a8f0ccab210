// This file builds the HTTP interfaces of one home: the pages, the API, and the server for agents.

package cli

import (
	"context"
	"errors"
	"net/http"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/httpapi"
	"github.com/oxbow-memory/oxbow/internal/mcpserver"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/internal/web"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// homeHandler serves the HTTP interfaces of one home. It implements tenant.Home.
type homeHandler struct {
	http.Handler
	closeHome func() error
}

func (d *homeHandler) Close() error { return d.closeHome() }

// openHomeHandler opens the memory's home directory and returns a handler with the HTTP interfaces of this memory. The
// interfaces serve the requests that the guard g allows.
func (mem *lazyMemory) openHomeHandler(
	ctx context.Context,
	flags serverFlags,
	g auth.RequestGuard,
	sessions *web.BrowserSessions,
) (*homeHandler, error) {
	s, done, err := mem.buildService(ctx, flags)
	if err != nil {
		return nil, err
	}
	if err := checkTokens(s.mcpServer, g.Tokens, flags.TokenListFile); err != nil {
		return nil, errors.Join(err, done())
	}
	// The pages also show the place of the memory and the files on this machine, as the command line does. The other
	// interfaces must not show them, so change only a copy of the options.
	views := s.viewOptions
	here := *views.Workspace
	here.Place = mem.finder.memoryPlace
	here.Host = mem.finder.host()
	here.Loader = mem.newLoader
	if mem.finder.openStore != nil {
		here.Place = mem.finder.daemonMemoryPlace
	}
	views.Workspace = &here
	return &homeHandler{mem.newHTTPHandler(&views, s, g, sessions), done}, nil
}

// newHTTPHandler returns an HTTP handler that serves the MCP server of s, the web pages and the API. The options in
// viewOptions are for the pages and the API.
func (mem *lazyMemory) newHTTPHandler(
	viewOptions *rights.Options,
	s *memoryService,
	g auth.RequestGuard,
	sessions *web.BrowserSessions,
) http.Handler {
	feed := history.NewChangeFeed(viewOptions.Workspace.Open, nil)
	api := httpapi.New(
		viewOptions,
		&httpapi.Options{
			Rand:         mem.env.Rand,
			ChangeFeed:   feed,
			MergeChanges: s.hasNonOxbowLayout,
			Logger:       mem.env.newServerLogger(),
		},
	)
	pages := web.New(
		viewOptions,
		&web.Options{
			Version:           moduleVersion(),
			Rand:              mem.env.Rand,
			Now:               mem.env.Now,
			IsSampleMemory:    mem.isDemoSample,
			ChangeFeed:        feed,
			Sessions:          sessions,
			HasSeveralUsers:   g.VerifySecret != nil || len(g.Tokens) > 1,
			ForbidsFileWrites: mem.isTenantHome || mem.finder.openStore != nil,
			HasTLSOnlyCookies: g.IsTLSOnly(),
		},
	)
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcpHandler(s, g))
	mux.Handle("/mcp/", mcpHandler(s, g))
	mux.Handle("/api/v1/", api.Handler(g))
	mux.Handle("/openapi.json", api.Handler(g))
	mux.Handle(page.RootPath, pages.Handler(g))
	mux.Handle("GET /{$}", http.RedirectHandler(page.RootPath, http.StatusSeeOther))
	return mux
}

// newHandlerWithoutMemory returns an HTTP handler that describes the API but serves no memory. It is used if all
// accepted tokens belong to tenants, each of which has a memory and a handler of its own. The handler itself accepts no
// token.
func (mem *lazyMemory) newHandlerWithoutMemory(g auth.RequestGuard) http.Handler {
	none := &verb.Workspace{Now: mem.env.Now, Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
		return nil, oxbow.ErrNotFound
	}}
	g.Tokens = nil
	return mem.newHTTPHandler(
		&rights.Options{Workspace: none},
		&memoryService{mcpServer: mcpserver.New(none, nil)},
		g,
		nil,
	)
}
