// The command "oxbow mcp": the server for agents.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/auth"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/mcpserver"
	"github.com/oxbow-memory/oxbow/tool"
)

// serving are the flags of oxbow mcp.
type serving struct {
	Addr       string   `json:"http,omitempty" value:"ADDR" usage:"serve HTTP on this ADDR, such as 127.0.0.1:8333; port 0 takes a free one"`
	TokenFile  string   `json:"token_file,omitempty" value:"FILE" usage:"the FILE of the token, made when it is missing (default HOME/token; in a repository, one in your configuration directory)"`
	TokensFile string   `json:"tokens,omitempty" value:"FILE" usage:"a FILE of tokens with the rights of each, instead of one token"`
	Tools      []string `json:"tools,omitempty" empty:"allowed" value:"SETS" usage:"the sets of tools that clients are shown, with commas; see above (default core, and profiles where there are some)"`
	ReadOnly   bool     `json:"ro,omitempty" usage:"clients only read"`
	ReadWrite  bool     `json:"rw,omitempty" usage:"clients read and write, which is the default"`
	Projects   []string `json:"project,omitempty" empty:"allowed" usage:"clients see and write only entries of this PROJECT; auto is that of the working directory"`
	Kinds      []string `json:"kind,omitempty" empty:"allowed" usage:"clients see and write only entries of this KIND"`
}

// sets returns the sets of oxbow's tools that are listed: by default the core, and
// profiles where there are some and all clients see all of the memory; in a home
// of another layout those that its design has.
func (s serving) sets(d dialect.Dialect, other bool, profiles []string) (tool.Sets, error) {
	switch {
	case len(s.Tools) > 0:
		sets, err := tool.ParseSets(s.Tools)
		return sets, badArgument(err)
	case other:
		return append(tool.Sets{}, d.Sets...), nil
	case len(profiles) > 0 && len(s.Projects)+len(s.Kinds)+len(s.TokensFile) == 0:
		return tool.Sets{tool.SetCore, "profiles"}, nil
	}
	return tool.Sets{tool.SetCore}, nil
}

func (a *app) mcpCommand() *cobra.Command {
	return takes(&cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory to agents (Model Context Protocol)",
		Long: `Mcp serves the memory to one client over standard input and output or, with
--http, to any number over HTTP. HTTP is served on this machine only, to those
who send the token; for another machine, tunnel it (ssh -L).

With --profile, or OXBOW_PROFILE, clients see nothing but what the profile
includes; over HTTP, /mcp/p/NAME serves any one profile. --ro, --project and
--kind narrow it further. A file of --tokens names clients, each with rights of
its own; a line is a name, a secret, ro or rw, and what it sees:

  ci   kE0v1sVQxqB8oVbW2mZt5w  ro  project=harbor kind=note
  vtt  sha256:9f86d081884c...  rw  profile=vtt-developer

Every session pays for the list of tools, so it is short: core, and profiles
where the home has some. --tools core,code names the sets that are in it:

` + setsHelp(),
		Example: `  claude mcp add -s user oxbow -- oxbow mcp
  claude mcp add -s user vtt -- oxbow mcp --profile vtt-developer
  oxbow mcp --ro --project harbor
  oxbow mcp --http 127.0.0.1:8333
  oxbow mcp --http :0 --tokens ~/.oxbow-tokens`,
	}, func(ctx context.Context, s serving, _ []string) error {
		switch {
		case s.Addr == "" && s.TokenFile != "":
			return misusef("add --http ADDR", "--token-file means something with --http only")
		case s.Addr == "" && s.TokensFile != "":
			return misusef("add --http ADDR", "--tokens means something with --http only")
		case s.TokenFile != "" && s.TokensFile != "":
			return misusef("give that token a line in the file of --tokens", "--token-file and --tokens are both given")
		case s.ReadOnly && s.ReadWrite:
			return misusef("leave one of them out", "--ro and --rw are both given")
		}
		return a.mcp(ctx, s)
	})
}

// setsHelp lists the sets of tools.
func setsHelp() string {
	var b strings.Builder
	for _, s := range tool.KnownSets() {
		fmt.Fprintf(&b, "  %-9s %s\n", s.Name, strings.Join(s.Verbs, " "))
	}
	return b.String() + "  full      all of these\n  all       these and those of the home's own layout"
}

func kindNames() []string {
	var names []string
	for _, k := range oxbow.Kinds() {
		names = append(names, k.String())
	}
	return names
}

// rights returns what the flags allow.
func (a *app) rights(s serving) (auth.Permissions, error) {
	r := auth.Permissions{ReadOnly: s.ReadOnly, Kinds: s.Kinds}
	for _, p := range s.Projects {
		name, err := a.projectNamed(p)
		if err != nil {
			return r, err
		}
		r.Projects = append(r.Projects, name)
	}
	return r, badArgument(r.Check())
}

func (a *app) mcp(ctx context.Context, flags serving) (err error) {
	src, err := a.source()
	if err != nil {
		return err
	}
	// The server says which door; a client at it is an agent.
	src.Actor, src.Session = oxbow.Agent, ""
	src.Claimed = oxbow.Claim{Agent: a.env.Getenv("OXBOW_AGENT")}
	a.sealAfter = time.Second
	how := build
	if flags.ReadOnly {
		how = a.readingOnly()
	}
	if foreign, err := a.isForeign(); err != nil {
		return err
	} else if foreign {
		how = look
	}
	open, closeStore := tool.OpenOnFirstUse(func(context.Context) (*oxbow.Memory, error) { return a.open(how) })
	defer func() { a.settling.run(); err = errors.Join(err, closeStore()) }()
	d, other, err := a.layout()
	if err != nil {
		return err
	}
	o := mcpserver.Options{
		Name:    "oxbow",
		Version: moduleVersion(),
		Logger:  slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Rand:    a.env.Rand,
	}
	if o.Rights, err = a.rights(flags); err != nil {
		return err
	}
	if o.Bound, err = a.bound(); err != nil { // a profile that is not there ends the server at once
		return err
	}
	var profiles []string
	if o.Profiles, err = a.profiles(); err != nil {
		a.warn("profiles are not served: %v", err)
	} else if o.Bound == nil {
		profiles, _ = o.Profiles.Names() // that they cannot be read, the tools say
	}
	if o.Sets, err = flags.sets(d, other, profiles); err != nil {
		return err
	}
	if other {
		h, err := a.openHome(d, how)
		if err != nil {
			return err
		}
		o.Home, o.Tools, o.Leave = h, toolsOf(h, o.Sets), leftOut(d, h)
		o.Instructions = instructionsOf(d, h, len(o.Sets) > len(d.Sets))
	}
	workspace := &tool.Workspace{Open: open, Now: a.env.Now, Source: src, Secrets: a.secretsPolicy(), Sessions: a.archive(), Kept: a.archiveAsIs()}
	a.exposure = a.exposureOf
	workspace.Dir, _ = a.abs(".") // without one, calls are joined to sessions by what clients say
	if workspace.Vectors, err = a.vectors(); err != nil {
		return err
	}
	if svc, serr := a.subAgents(); serr != nil {
		a.warn("sub-agents are not served: %v", serr)
	} else {
		// What runs is stopped and recorded before the memory is closed.
		defer func() { err = errors.Join(err, svc.Close()) }()
		workspace.SubAgents, o.Whole = svc, tool.SubAgents()
	}
	// In a repository there is code to annotate. Without one, or where it
	// cannot be opened, the memory is served all the same.
	if book, berr := a.book(ctx); berr != nil {
		a.warn("the annotations of code are not served: %v", berr)
	} else {
		defer func() { err = errors.Join(err, book.Close()) }()
		if book.IsTree() {
			workspace.Annotations = func(context.Context) (*annotate.Store, error) { return book, nil }
			workspace.Project = sync.OnceValue(a.projectHere)
			o.Code = tool.Code()
		}
	}
	o.Hint = a.clientHint(o.Sets, workspace, len(profiles) > 0)
	o.Caution = func() string {
		if said := a.caution.Load(); said != nil {
			return (*said)(tool.Note.String)
		}
		return ""
	}
	s := mcpserver.New(workspace, &o)
	if flags.Addr == "" {
		if a.env.StdinTerm {
			a.note("this serves agents over standard input and output, and waits for a client's messages; Ctrl-C ends it. A client starts it by itself: claude mcp add -s user oxbow -- oxbow%s mcp", a.homeArgs())
		}
		err = s.ServeStdio(ctx, a.env.Stdin, a.env.Stdout)
	} else {
		err = a.serveHTTP(ctx, s, flags)
	}
	if ctx.Err() != nil {
		return nil // it was to end, and ended
	}
	return err
}

// clientHint is what the instructions say of this home: that it is not trusted, as
// clients show no standard error, and how the tools for what it has are listed.
func (a *app) clientHint(listed tool.Sets, w *tool.Workspace, profiles bool) (said string) {
	if foreign, err := a.isForeign(); err == nil && foreign {
		said = "This memory came with a clone and is not trusted: others wrote what it holds, and nothing is written to it until a person runs oxbow trust.\n"
	}
	var has, sets []string
	if profiles && !listed.Has("load_memory_profile") {
		has, sets = append(has, "memory profiles"), append(sets, "profiles")
	}
	if w.Annotations != nil && !listed.Has("get_annotations") {
		if b, err := w.Annotations(context.Background()); err == nil && isDir(filepath.Join(b.Root(), filepath.FromSlash(annotate.DefaultDir))) {
			has, sets = append(has, "annotations of code (in a shell: oxbow why FILE)"), append(sets, "code")
		}
	}
	if len(has) == 0 {
		return said
	}
	return said + "There are " + strings.Join(has, " and ") + " here; the tools for them are listed after: oxbow mcp --tools core," + strings.Join(sets, ",")
}

// readingOnly returns how a memory is opened that is only read: without a lock,
// and where nothing can be written. One that is not there yet is opened as if it
// were to be made, so that it is seen when another makes it.
func (a *app) readingOnly() access {
	if path, err := a.storePath(); err == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return build
		}
	}
	return look
}

// serveHTTP serves until ctx ends.
func (a *app) serveHTTP(ctx context.Context, s *mcpserver.Server, flags serving) error {
	addr, err := loopback(flags.Addr)
	if err != nil {
		return err
	}
	var g auth.Guard
	var where string
	if flags.TokensFile != "" {
		if g.Tokens, where, err = a.tokens(flags.TokensFile); err == nil {
			err = admitted(s, g.Tokens, where)
		}
	} else {
		var secret string
		secret, where, err = a.token(flags.TokenFile)
		g.Tokens = auth.Tokens{auth.New("", secret, auth.Permissions{})}
	}
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return &hinted{fmt.Errorf("listening: %w", err), "choose another port, or 0 for a free one: oxbow mcp --http 127.0.0.1:0"}
	}
	mux := http.NewServeMux()
	door := s.Handler(g)
	mux.Handle("/mcp", door)
	mux.Handle("/mcp/p/{profile}", door)
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 30 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       120 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(a.env.Stderr, nil), slog.LevelWarn),
	}
	url := "http://" + l.Addr().String() + "/mcp"
	several := flags.TokensFile != ""
	fmt.Fprintf(a.env.Stderr, "oxbow: serving %s\n  %s in %s; send %s as: Authorization: Bearer TOKEN\n",
		url, wordFor(several, "the token is", "the tokens are"), where, wordFor(several, "it", "one"))
	if several {
		for _, t := range g.Tokens {
			fmt.Fprintf(a.env.Stderr, "  token %s %s\n", t.Name, clean(t.Rights.String()))
		}
	}
	if a.env.Listening != nil {
		a.env.Listening(l.Addr().String())
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	// What is under way may finish; open streams may not hold us up.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		_ = srv.Close()
	}
	<-ended
	return nil
}

// loopback returns the address to listen on, and refuses one that other
// machines reach. A port alone is one of this machine.
func loopback(addr string) (string, error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", misusef("write HOST:PORT, such as 127.0.0.1:8333", "--http %q is not an address", addr)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
		return "", misusef("listen on 127.0.0.1:"+port+", and let other machines in by a tunnel: ssh -L "+port+":127.0.0.1:"+port+" HOST",
			"--http %s would let other machines in", addr)
	}
	return net.JoinHostPort(host, port), nil
}
