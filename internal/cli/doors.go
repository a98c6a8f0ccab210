// This file builds the interfaces of one home over HTTP: pages, API and agents.

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

// doors contains the HTTP interfaces of one home. It implements tenant.Home.
type doors struct {
	http.Handler
	close func() error
}

func (d *doors) Close() error { return d.close() }

// openDoors opens the interfaces of the run's home for the requests that the guard admits.
func (mem *openMemory) openDoors(
	ctx context.Context,
	flags serving,
	g auth.Guard,
	sessions *web.Sessions,
) (*doors, error) {
	s, done, err := mem.buildService(ctx, flags)
	if err != nil {
		return nil, err
	}
	if err := checkTokens(s.mcp, g.Tokens, flags.TokensFile); err != nil {
		return nil, errors.Join(err, done())
	}
	// A person at a page may also see the files that the command line shows.
	views := s.views
	here := *views.Workspace
	here.Place = mem.finder.memoryPlace
	here.Host = mem.finder.host()
	here.Loader = mem.loader
	if mem.finder.store != nil {
		here.Place = mem.finder.placeElsewhere
	}
	views.Workspace = &here
	return &doors{mem.newHandler(&views, s, g, sessions), done}, nil
}

// newHandler returns a handler for the pages and the API of the given views, and for the MCP server
// of s.
func (mem *openMemory) newHandler(
	views *rights.Options,
	s *servedMemory,
	g auth.Guard,
	sessions *web.Sessions,
) http.Handler {
	feed := history.NewFeed(views.Workspace.Open, nil)
	api := httpapi.New(
		views,
		&httpapi.Options{Rand: mem.env.Rand, Feed: feed, Merge: s.other, Logger: mem.env.serverLog()},
	)
	pages := web.New(
		views,
		&web.Options{Version: moduleVersion(), Rand: mem.env.Rand, Now: mem.env.Now, Sample: mem.sample, Feed: feed,
			Sessions: sessions, Shared: g.Verify != nil || len(g.Tokens) > 1,
			NoFiles: mem.tenant || mem.finder.store != nil, Secure: g.Secure()},
	)
	mux := http.NewServeMux()
	mux.Handle("/mcp", agentsDoor(s, g))
	mux.Handle("/mcp/", agentsDoor(s, g))
	mux.Handle("/api/v1/", api.Handler(g))
	mux.Handle("/openapi.json", api.Handler(g))
	mux.Handle(page.Root, pages.Handler(g))
	mux.Handle("GET /{$}", http.RedirectHandler(page.Root, http.StatusSeeOther))
	return mux
}

// noDoors returns a handler that describes the API but contains no memory. It is used if all
// tokens that the guard verifies belong to tenants.
func (mem *openMemory) noDoors(g auth.Guard) http.Handler {
	none := &verb.Workspace{Now: mem.env.Now, Open: func(context.Context, verb.Access) (*oxbow.Memory, error) {
		return nil, oxbow.ErrNotFound
	}}
	g.Tokens = nil
	return mem.newHandler(&rights.Options{Workspace: none}, &servedMemory{mcp: mcpserver.New(none, nil)}, g, nil)
}
