// The server of the pages: what it is made of, and which requests it answers.

// Package web shows a memory to a person in a browser: what agents believe, why, and
// what they were shown, with forms that correct it. Pages are made by the server and
// complete without script; each is the answer of verbs of package verb.
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
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/view"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// Options change how a server is made. Nil and zero fields mean the default.
type Options struct {
	Version string           // of the program, as pages show it; "dev" by default
	Rand    io.Reader        // makes keys of links and sessions; crypto/rand by default
	Now     func() time.Time // its location is the one that dates are shown in; time.Now by default
	Logger  *slog.Logger     // gets what an operator may want to know; nil discards
	Sample  bool             // the memory is one that is thrown away, which pages say
	Feed    *verb.Feed       // that of the memory, which doors share; one of its own by default
	// NoFiles is true where no page may write a file of the machine, as a backup does.
	NoFiles bool
	Secure  bool // browsers are to send cookies over TLS alone
	// Sessions are the browsers that are signed in; the server's own by default.
	Sessions *Sessions
}

// Server serves the pages of one memory. It is safe for concurrent use.
type Server struct {
	views    *view.Options
	opts     Options
	sessions *Sessions
	assets   page.Assets

	mu   sync.Mutex            // guards seen
	seen map[string]*view.View // by the id of the session
}

// maxViews is how many views are kept.
const maxViews = 256

// New returns a server over the views of a memory. It opens nothing. The server does
// not close the memory.
func New(v *view.Options, o *Options) *Server {
	s := &Server{views: v, assets: page.NewAssets()}
	if o != nil {
		s.opts = *o
	}
	s.opts.Version = cmp.Or(s.opts.Version, "dev")
	s.opts.Rand = cmp.Or(s.opts.Rand, rand.Reader)
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.New(slog.DiscardHandler))
	s.opts.Feed = cmp.Or(s.opts.Feed, verb.NewFeed(v.Workspace.Open, nil))
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	s.sessions = s.opts.Sessions
	if s.sessions == nil {
		s.sessions = NewSessions("", s.opts.Now, s.opts.Rand)
	}
	return s
}

// view returns what a visitor sees.
func (s *Server) view(of *visitor) (*view.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.seen[of.id]; v != nil {
		return v, nil
	}
	v, err := s.views.View(of.token, "")
	if err != nil {
		return nil, err
	}
	if s.seen == nil || len(s.seen) >= maxViews {
		s.seen = map[string]*view.View{}
	}
	s.seen[of.id] = v
	return v, nil
}

// Link is [Sessions.Link] for the one whom the workspace's source names.
func (s *Server) Link(to string) (string, error) {
	return s.sessions.Link(to, s.views.Workspace.Source.Actor)
}

// security are the headers of every answer. The policy lets a page load what this
// server serves and nothing else, and run no script that a page holds.
var security = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
		"frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types oxbow",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
	"Referrer-Policy":              "same-origin", // with no-referrer, a browser sends its forms with the origin null
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// Handler returns the pages below [page.Root], for what the guard admits. A browser
// signs in by a [Server.Link], or with one of the guard's tokens. Forms are taken from
// pages of this server alone.
func (s *Server) Handler(g auth.Guard) http.Handler {
	mux, door := http.NewServeMux(), doorkeeper{s, g}
	mux.Handle("GET "+page.Root+"asset/{file}", s.assets)
	mux.HandleFunc("GET "+page.Root+"enter", door.enter)
	mux.HandleFunc("POST "+page.Root+"enter", door.signIn)
	mux.HandleFunc("POST "+page.Root+"leave", door.leave)
	for _, rt := range routes {
		mux.HandleFunc(rt.method+" "+page.Root+rt.path, func(w http.ResponseWriter, r *http.Request) {
			if v := s.sessions.of(r); v != nil {
				s.answer(w, r, v, rt.handle)
				return
			}
			door.turnAway(w, r)
		})
	}
	origin := http.NewCrossOriginProtection()
	for _, o := range g.Origins {
		_ = origin.AddTrustedOrigin(o) // one that is none is never sent
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for k, v := range security {
			w.Header().Set(k, v)
		}
		w.Header().Set("Cache-Control", "no-store") // assets set their own
		err := g.AdmitSite(r)
		if err == nil {
			err = origin.Check(r)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, auth.MaxBody)
		mux.ServeHTTP(w, r)
	})
}

// answer runs a handler for who is signed in.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, v *visitor, handle handler) {
	seen, err := s.view(v)
	if err != nil {
		signInPage(err.Error(), http.StatusForbidden).Send(w, s.assets)
		return
	}
	src := seen.Workspace.Source
	src.Door = "web"
	src.Actor = v.actor
	src.Session = v.id
	work := *seen.Workspace
	work.Unbounded, work.Words = true, page.Words
	if seen.Partial() { // files and profiles are of all of the memory
		work.Place = nil
		work.Host = nil
		work.Loader = nil
	}
	c := &call{ctx: oxbow.WithSource(r.Context(), src), r: r, now: s.opts.Now(), view: seen, work: &work, actor: v.actor, feed: s.opts.Feed, version: s.opts.Version, sample: s.opts.Sample, noFiles: s.opts.NoFiles}
	out, err := handle(c)
	if err != nil {
		page := failed(err)
		page.body = append(page.body, typedBack(r))
		out = page
	}
	out.send(c, w, s.assets)
}
