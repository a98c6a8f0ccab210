// This file holds "oxbow mcp": the server for agents.

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
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
	"github.com/oxbow-memory/oxbow/mcpserver"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) mcpCommand() *cobra.Command {
	var addr, tokenFile string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the memory to agents (Model Context Protocol)",
		Long: `Mcp serves the memory to one client over standard input and output or, with
--http, to any number over HTTP. HTTP is served on this machine only, to those
who send the token; for another machine, tunnel it (ssh -L). With --profile, or
OXBOW_PROFILE, clients see nothing but what the profile includes.`,
		Example: `  claude mcp add oxbow -- oxbow mcp
  claude mcp add vtt -- oxbow mcp --profile vtt-developer
  oxbow mcp --http 127.0.0.1:8333
  oxbow mcp --http :0 --token-file ~/.oxbow-token`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if addr == "" && tokenFile != "" {
				return misusef("add --http ADDR", "--token-file means something with --http only")
			}
			return a.mcp(cmd.Context(), addr, tokenFile)
		},
	}
	c.Flags().StringVar(&addr, "http", "", "serve HTTP on this `ADDR`, such as 127.0.0.1:8333; port 0 takes a free one")
	c.Flags().StringVar(&tokenFile, "token-file", "", "the `FILE` of the token, made when it is missing (default HOME/token)")
	return c
}

func (a *app) mcp(ctx context.Context, addr, tokenFile string) (err error) {
	src, err := a.source()
	if err != nil {
		return err
	}
	// The server says which door; a client at it is an agent.
	src.Actor, src.Session = oxbow.Agent, ""
	src.Claimed = oxbow.Claim{Agent: a.env.Getenv("OXBOW_AGENT")}
	a.sealAfter = time.Second
	open, closeStore := tool.Lazy(func(context.Context) (*oxbow.Memory, error) { return a.open(build) })
	defer func() { err = errors.Join(err, closeStore()) }()
	var tools []tool.Tool // oxbow's own
	var told string       // the server's own words
	d, other, err := a.layout()
	if err != nil {
		return err
	}
	bound, err := a.bound() // a profile that is not there ends the server at once
	if err != nil {
		return err
	}
	if bound != nil {
		tools = append(tool.Table(), tool.RecallMemory())
	}
	// The tools of another layout know files of all the memory.
	if other && bound == nil {
		h, err := a.openHome(d, build)
		if err != nil {
			return err
		}
		tools, told = toolsOf(h), toldOf(d, h)
	}
	desk := &tool.Desk{Open: open, Now: a.env.Now, Source: src}
	if tools == nil {
		tools = tool.Table()
	}
	if svc, serr := a.subAgents(); serr != nil {
		a.warn("sub-agents are not served: %v", serr)
	} else {
		// What runs is stopped and recorded before the memory is closed.
		defer func() { err = errors.Join(err, svc.Close()) }()
		desk.SubAgents = svc
		tools = append(tools, tool.SubAgents()...)
	}
	// In a repository there is code to annotate. Without one, or where it
	// cannot be opened, the memory is served all the same.
	if book, berr := a.book(ctx); berr != nil {
		a.warn("the annotations of code are not served: %v", berr)
	} else {
		defer func() { err = errors.Join(err, book.Close()) }()
		if book.IsTree() {
			desk.Book = func(context.Context) (*annotate.Book, error) { return book, nil }
			desk.Project = sync.OnceValue(a.projectHere)
			tools = append(tools, tool.Code()...)
		}
	}
	s := mcpserver.New(desk, &mcpserver.Options{
		Tools: tools, Instructions: told,
		Name:    "oxbow",
		Version: moduleVersion(),
		Logger:  slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Rand:    a.env.Rand,
	})
	if addr == "" {
		err = s.ServeStdio(ctx, a.env.Stdin, a.env.Stdout)
	} else {
		err = a.serveHTTP(ctx, s, addr, tokenFile)
	}
	if ctx.Err() != nil {
		return nil // told to end, and ended
	}
	return err
}

// serveHTTP serves until ctx ends.
func (a *app) serveHTTP(ctx context.Context, s *mcpserver.Server, addr, tokenFile string) error {
	addr, err := loopback(addr)
	if err != nil {
		return err
	}
	token, where, err := a.token(tokenFile)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return &hinted{fmt.Errorf("listening: %w", err), "choose another port, or 0 for a free one: oxbow mcp --http 127.0.0.1:0"}
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler(mcpserver.HTTPOptions{Token: token}))
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       120 * time.Second,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(a.env.Stderr, nil), slog.LevelWarn),
	}
	url := "http://" + l.Addr().String() + "/mcp"
	fmt.Fprintf(a.env.Stderr, "oxbow: serving %s\n", url)
	fmt.Fprintf(a.env.Stderr, "  the token is in %s; send it as: Authorization: Bearer TOKEN\n", where)
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

// makeToken writes a new token to the file, unless another process is first. It
// takes its name when it is whole: half a token would be taken for one.
func (a *app) makeToken(file string) error {
	b := make([]byte, 32)
	if _, err := io.ReadFull(a.env.Rand, b); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".token-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(base64.RawURLEncoding.EncodeToString(b) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(f.Name(), file) // no hard links here
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// token returns the token that clients must send and the file it is in, made
// when it is missing.
func (a *app) token(file string) (token, where string, err error) {
	if file == "" {
		home, err := a.home()
		if err != nil {
			return "", "", err
		}
		if err := os.MkdirAll(home, 0o700); err != nil {
			return "", "", fmt.Errorf("making the home: %w", err)
		}
		file = filepath.Join(home, "token")
	} else if file, err = a.abs(file); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := a.makeToken(file); err != nil {
			return "", "", fmt.Errorf("making the token: %w", err)
		}
	}
	fi, err := os.Stat(file)
	if err != nil {
		return "", "", fmt.Errorf("reading the token: %w", err)
	}
	if a.env.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return "", "", &hinted{fmt.Errorf("reading the token: others may read %s", file), "chmod 600 " + quote(file)}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("reading the token: %w", err)
	}
	token = strings.TrimSpace(string(b))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", "", &hinted{fmt.Errorf("reading the token: %s does not hold one word of 16 characters or more", file),
			"remove the file to have a new token made"}
	}
	return token, file, nil
}
