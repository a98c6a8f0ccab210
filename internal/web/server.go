// This file implements the server of the pages: its options, and the checks on every request.

// Package web shows a memory to a person in a browser, with the reasons for each entry and the texts that agents were
// shown. A person can correct the memory with the forms on the pages. The server builds the pages, which work without
// scripts. Each page shows the results of verbs, which are the operations of package verb.
package web

import (
	"cmp"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// Options configure a [Server]. Nil and zero fields mean the default.
type Options struct {
	Version        string           // version of oxbow that pages show (default "dev")
	Rand           io.Reader        // source of random keys for links and sessions (default crypto/rand)
	Now            func() time.Time // clock, whose time zone is used for dates (default time.Now)
	Logger         *slog.Logger     // logger for the operator (nil discards messages)
	IsSampleMemory bool             // pages say that the memory is a sample and will be deleted
	// ChangeFeed provides the recent changes of the memory. It is set if several servers share it. By default, the
	// server creates its own.
	ChangeFeed *history.ChangeFeed
	// HasSeveralUsers is set if several people may sign in. Pages then do not assume that a person's change was made by
	// the person who is reading the page.
	HasSeveralUsers bool
	// ForbidsFileWrites prevents pages from writing files on this machine, such as backups.
	ForbidsFileWrites bool
	HasTLSOnlyCookies bool // browsers send cookies only over TLS
	// Sessions contains the browsers that are signed in. By default, the server creates its own.
	Sessions *BrowserSessions
}

// Server serves the pages for a memory. It is safe for concurrent use.
type Server struct {
	viewOptions   *rights.Options
	serverOptions Options
	sessions      *BrowserSessions
	assets        page.Assets

	mu sync.Mutex // guards viewBySession
	// the memory, restricted to the entries that the browser's session may see, by session ID
	viewBySession map[string]*rights.MemoryView

	caches  sharedCaches
	uploads uploadedFiles
}

// maxBrowserViews is the maximum number of browser sessions whose restricted view of the memory is kept.
const maxBrowserViews = 256

// New returns a web page server. v specifies the memory, and which part of it each browser may see. New opens no files,
// and the server does not close the memory.
func New(v *rights.Options, o *Options) *Server {
	s := &Server{viewOptions: v, assets: page.NewAssets()}
	if o != nil {
		s.serverOptions = *o
	}
	s.serverOptions.Version = cmp.Or(s.serverOptions.Version, "dev")
	s.serverOptions.Rand = cmp.Or(s.serverOptions.Rand, rand.Reader)
	s.serverOptions.Logger = cmp.Or(s.serverOptions.Logger, slog.New(slog.DiscardHandler))
	s.serverOptions.ChangeFeed = cmp.Or(s.serverOptions.ChangeFeed, history.NewChangeFeed(v.Workspace.Open, nil))
	if s.serverOptions.Now == nil {
		s.serverOptions.Now = time.Now
	}
	s.sessions = s.serverOptions.Sessions
	if s.sessions == nil {
		s.sessions = NewSessions("", s.serverOptions.Now, s.serverOptions.Rand)
	}
	return s
}

// visitorView returns the memory as the visitor may see it. It creates the view at the first request of a session and
// stores the view for later requests. If maxBrowserViews views are stored, all stored views are discarded before a new
// view is stored.
func (s *Server) visitorView(visitor *browserVisitor) (*rights.MemoryView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.viewBySession[visitor.sessionID]; v != nil {
		return v, nil
	}
	v, err := s.viewOptions.MakeView(visitor.token, "")
	if err != nil {
		return nil, err
	}
	if s.viewBySession == nil || len(s.viewBySession) >= maxBrowserViews {
		s.viewBySession = map[string]*rights.MemoryView{}
	}
	s.viewBySession[visitor.sessionID] = v
	return v, nil
}

// SignInLink returns a link that signs a browser in and then opens a page. The parameter targetPath is the path of this
// page. The link is for the actor of the workspace's source. For the details, see [BrowserSessions.SignInLink].
func (s *Server) SignInLink(targetPath string) (string, error) {
	return s.sessions.SignInLink(targetPath, s.viewOptions.Workspace.Source.Actor)
}

// securityHeaders are headers of every response. According to the policy, a page may load resources only from this
// server, and must not run inline scripts.
var securityHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; form-action 'self'; " +
		"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types oxbow",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	// with no-referrer, browsers would send "null" as the Origin of forms
	"Referrer-Policy":        "same-origin",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options":        "DENY",
}

// Handler serves the pages below [page.RootPath] for requests that the guard admits. A browser signs in with a
// [Server.SignInLink], or with a token of the guard. Forms are accepted only from pages of this server and the guard's
// origins.
func (s *Server) Handler(g auth.RequestGuard) http.Handler {
	mux, door := http.NewServeMux(), browserAuthenticator{s, g}
	mux.Handle("GET "+page.RootPath+"asset/{file}", s.assets)
	mux.HandleFunc("GET "+page.RootPath+"enter", door.signInByKey)
	mux.HandleFunc("POST "+page.RootPath+"enter", door.signIn)
	mux.HandleFunc("POST "+page.RootPath+"leave", door.signOut)
	for _, rt := range pageRoutes {
		mux.HandleFunc(rt.method+" "+page.RootPath+rt.path, func(w http.ResponseWriter, r *http.Request) {
			if v := s.sessions.findVisitor(r); v != nil {
				s.serveSignedInBrowser(w, r, v, rt.handle)
				return
			}
			door.redirectToSignIn(w, r)
		})
	}
	origin := http.NewCrossOriginProtection()
	for _, o := range g.Origins {
		_ = origin.AddTrustedOrigin(o) // ignore the error, because no browser sends an invalid origin
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range securityHeaders {
			w.Header().Set(k, v)
		}
		// The handlers of static files, such as style sheets, replace this value.
		w.Header().Set("Cache-Control", "no-store")
		err := g.CheckHostAndOrigin(r)
		if err == nil {
			err = origin.Check(r)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		limitBody(w, r)
		withCompression(w, r, func(w http.ResponseWriter) { mux.ServeHTTP(w, r) })
	})
}

// serveSignedInBrowser runs a handler for a signed-in browser.
func (s *Server) serveSignedInBrowser(w http.ResponseWriter, r *http.Request, v *browserVisitor, handle pageHandler) {
	seen, err := s.visitorView(v)
	if err != nil {
		signInPage(err.Error(), http.StatusForbidden).Send(w, s.assets)
		return
	}
	src := seen.Workspace.Source
	src.Door = "web"
	src.Actor = v.actor
	src.Session = v.sessionID
	work := *seen.Workspace
	work.Unbounded, work.Words = true, page.ReferenceText
	// This browser sees only a part of the memory. Do not give it the home's files and the profiles, because they are
	// about the whole memory.
	if seen.IsPartial() {
		work.Place = nil
		work.Host = nil
		work.Loader = nil
	}
	c := &pageRequest{
		ctx:               oxbow.WithSource(r.Context(), src),
		r:                 r,
		now:               s.serverOptions.Now(),
		view:              seen,
		workspace:         &work,
		actor:             v.actor,
		feed:              s.serverOptions.ChangeFeed,
		oxbowVersion:      s.serverOptions.Version,
		isSampleMemory:    s.serverOptions.IsSampleMemory,
		hasSeveralUsers:   s.serverOptions.HasSeveralUsers,
		forbidsFileWrites: s.serverOptions.ForbidsFileWrites,
		caches:            &s.caches,
		uploads:           &s.uploads,
	}
	out, err := handle(c)
	if err != nil {
		page := errorPage(err)
		page.bodyNodes = append(page.bodyNodes, typedTextSection(r))
		out = page
	}
	out.send(c, w, s.assets)
}
