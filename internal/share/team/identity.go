// This file determines the identity of a repository, and checks whether the user trusts its team files.

package team

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/trust"
)

// TrustIdentity returns the repository's name in the record of the repositories that the user trusts. The name is the
// URL of the remote, so that the trust applies to all clones. If the repository has no remote, the name is the path of
// its root directory.
//
// URLs with ssh and https are equivalent if host and path are equal, because a host that offers both protocols serves
// the same repository. A URL whose protocol does not authenticate the host, such as http, keeps its scheme. The URL
// comes from the repository's own config, which somebody could change. But whoever can change the config can make git
// run programs anyway.
func (t *Tree) TrustIdentity() string {
	if u := normalizeURL(t.repo.RemoteURL(remoteName), t.repo.Root()); u != "" {
		return u
	}
	return "path:" + realPathOrClean(t.repo.Root())
}

func realPathOrClean(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return filepath.Clean(p)
}

// normalizeURL returns a form of a git remote's address that is the same for all spellings of the address. The result
// for a URL contains no password, no default port of HTTPS or SSH, and no final ".git". It contains the user name only
// for SSH, and only if the user is not git. The result for a file path is "path:" and the absolute path, and a relative
// path is resolved against root. The result for an invalid URL is "url:" and the address. If the address is empty, the
// result is "".
func normalizeURL(address, root string) string {
	address = strings.TrimSpace(address)
	scheme, _, full := strings.Cut(address, "://")
	user := ""
	host := ""
	repoPath := ""
	switch {
	case address == "":
		return ""
	case full && !strings.EqualFold(scheme, "file"):
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return "url:" + address
		}
		user = u.User.Username()
		host = strings.ToLower(u.Host)
		repoPath = u.Path
	case full:
		u, err := url.Parse(address)
		if err != nil {
			return "url:" + address
		}
		return "path:" + realPathOrClean(filepath.FromSlash(u.Path))
	default:
		i := strings.IndexByte(address, ':')
		// The address is a file path. A colon at position 1 follows a drive letter.
		if i < 2 || strings.ContainsAny(address[:i], `/\`) {
			p := filepath.FromSlash(address)
			if !filepath.IsAbs(p) {
				p = filepath.Join(root, p)
			}
			return "path:" + realPathOrClean(p)
		}
		scheme = "ssh"
		user, host, _ = cutUserFromHost(address[:i])
		host, repoPath = strings.ToLower(host), address[i+1:]
		isPerson := user != "" && user != "git"
		if isPerson && !strings.HasPrefix(repoPath, "/") {
			repoPath = "/~/" + repoPath // The path is relative to the home directory of this user.
		}
	}
	return canonicalURL(strings.ToLower(scheme), user, host, repoPath)
}

func cutUserFromHost(s string) (user, host string, ok bool) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

func canonicalURL(scheme, user, host, repoPath string) string {
	repoPath = strings.TrimSuffix(path.Clean("/"+repoPath), ".git")
	switch scheme {
	case "https":
		return strings.TrimSuffix(host, ":443") + repoPath
	case "ssh", "git+ssh", "ssh+git":
		host = strings.TrimSuffix(host, ":22")
		if user != "" && user != "git" {
			host = user + "@" + host
		}
		return host + repoPath
	}
	return scheme + "://" + host + repoPath
}

// IsTrusted reports whether the user trusts the team files of this repository.
func (t *Tree) IsTrusted(l trust.List) bool {
	id := t.TrustIdentity()
	for _, known := range l.Teams() {
		if known.ID == id {
			return true
		}
	}
	return false
}

// MarkTrusted records that the user trusts the team files of this repository. The record is in the list l.
func (t *Tree) MarkTrusted(ctx context.Context, l trust.List, now time.Time) error {
	return l.AddTeam(ctx, t.TrustIdentity(), now)
}
