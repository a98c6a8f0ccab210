// This file reads and creates tokens for HTTP clients. It handles the home's own token, and token files that give
// rights to each token.

package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/mcpserver"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// readTokenFile reads a token file. It returns the tokens, the tenants' quotas, and the file's absolute path. If other
// users may read the file, it only prints a warning, because a file that contains only digests is not secret.
func (env *environment) readTokenFile(
	file string,
) (ts auth.Tokens, quotas map[string]auth.Quota, path string, err error) {
	path, err = env.absolutePath(file)
	if err != nil {
		return nil, nil, "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, "", fmt.Errorf("reading the tokens: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, auth.MaxTokenFileBytes+1))
	if err != nil {
		return nil, nil, "", fmt.Errorf("reading the tokens: %w", err)
	}
	if fi, err := f.Stat(); err == nil && env.isReadableByOthers(fi) {
		env.printWarning("others may read the tokens in %s: chmod 600 %s", path, shellQuote(path))
	}
	ts, quotas, err = auth.ParseTokens(file, b)
	if err != nil {
		err = &usageError{err, "oxbow mcp --help shows how a line of the file is written"}
	}
	return ts, quotas, path, err
}

// isReadableByOthers reports whether other users of the machine may read a file. On Windows it returns false, because
// the file mode does not show this.
func (env *environment) isReadableByOthers(fi fs.FileInfo) bool {
	return env.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0
}

// checkTokens returns an error for tokens that the server could never serve. The error contains the file and the line
// of each.
func checkTokens(s *mcpserver.Server, tokens auth.Tokens, path string) error {
	var wrong profile.Diagnostics
	for _, t := range tokens {
		if err := s.CheckToken(t); err != nil {
			wrong = append(
				wrong,
				profile.Diagnostic{File: path, Line: t.Line, Text: fmt.Sprintf("token %q: %v", t.Name, err)},
			)
		}
	}
	if len(wrong) > 0 {
		return asUsageError(wrong)
	}
	return nil
}

// createTokenFile writes a new random token to a file. If the file already exists, for example because another process
// has just created it, createTokenFile does nothing and returns nil. The token is first written to a file with a
// temporary name. This file is renamed when it is complete, so that no process reads an incomplete token.
func (env *environment) createTokenFile(file string) error {
	b := make([]byte, 32)
	if _, err := io.ReadFull(env.Rand, b); err != nil {
		return err
	}
	dir, err := vfs.Dir(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	d, err := vfs.NewDraft(dir, filepath.Base(file), 0o600)
	if err != nil {
		return err
	}
	_, err = d.Write([]byte(base64.RawURLEncoding.EncodeToString(b) + "\n"))
	if err == nil {
		err = d.CommitNew()
	}
	err = errors.Join(err, d.Discard())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// tokenPath returns the path of a home's token file. The file is in the home. If the home is in a git working tree,
// where the token could be committed, and contains no token file yet, the file is in the user's configuration
// directory instead.
func (env *environment) tokenPath(home string) string {
	file := filepath.Join(home, "token")
	config := env.configDir()
	if _, err := os.Lstat(file); err == nil || config == "" {
		return file
	}
	if !git.IsInWorktree(home) {
		return file
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(config, "tokens", hex.EncodeToString(sum[:8]))
}

// readOrCreateToken returns the token that clients must send, and the path of its file. If the file does not exist, it
// is created.
func (mem *lazyMemory) readOrCreateToken(file string) (token, tokenFilePath string, err error) {
	if file == "" {
		home, err := mem.finder.homePath()
		if err != nil {
			return "", "", err
		}
		file = mem.env.tokenPath(home)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), maintenance.WriteGitignore(home)); err != nil {
			return "", "", fmt.Errorf("making the token's directory: %w", err)
		}
	} else {
		file, err = mem.env.absolutePath(file)
		if err != nil {
			return "", "", err
		}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if home, err := mem.finder.homePath(); err != nil || file != mem.env.tokenPath(home) {
			_, err = mem.outputPath(file)
			if err != nil {
				return "", "", err
			}
		}
		if err := mem.env.createTokenFile(file); err != nil {
			return "", "", fmt.Errorf("making the token: %w", err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("reading the token: %w", err)
	}
	if fi, err := os.Stat(file); err == nil && mem.env.isReadableByOthers(fi) {
		return "", "", &hintedError{
			fmt.Errorf("reading the token: others may read %s", file),
			"chmod 600 " + shellQuote(file),
		}
	}
	token = strings.TrimSpace(string(b))
	if len(token) < 16 || strings.ContainsAny(token, " \t\r\n") {
		return "", "", &hintedError{
			fmt.Errorf("reading the token: %s does not hold one word of 16 characters or more", file),
			"remove the file to have a new token made",
		}
	}
	return token, file, nil
}
