// Tenants: the names of those that share a server, and bounds of what each keeps.

package auth

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Quota bounds what a tenant keeps, and how fast it writes. A field of 0 bounds nothing.
type Quota struct {
	Entries int   // the most entries
	Bytes   int64 // the most bytes of its memory, history and all
	Writes  int   // the most changes a second, over a short time
}

// maxTenant is the most characters of a tenant's name.
const maxTenant = 63

var (
	tenantName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	deviceName = regexp.MustCompile(`^(con|prn|aux|nul|(com|lpt)[0-9])$`)
)

// CheckTenant reports why a name cannot be that of a tenant. It is a directory, too, and
// the same one on every system: lower-case letters, digits, dashes and underscores.
func CheckTenant(name string) error {
	switch {
	case name == "" || len(name) > maxTenant:
		return fmt.Errorf("a tenant's name has 1 to %d characters; this has %d", maxTenant, len(name))
	case !tenantName.MatchString(name):
		return errors.New("a tenant's name is made of lower-case letters, digits, dashes and underscores, and begins with a letter or digit")
	case deviceName.MatchString(name):
		return fmt.Errorf("%q is the name of a device on Windows, and cannot be a tenant's", name)
	}
	return nil
}

// Tenants returns the tenants that the tokens name, sorted.
func (ts Tokens) Tenants() []string {
	var names []string
	for _, t := range ts {
		if t.Tenant != "" && t.Only == "" {
			names = append(names, t.Tenant)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Of returns the tokens for the memory of one tenant, for that of the server's own home
// for "".
func (ts Tokens) Of(tenant string) Tokens {
	return slices.DeleteFunc(slices.Clone(ts), func(t Token) bool { return t.Tenant != tenant || t.Only != "" })
}

// onlyMetrics is the right of a token that reads metrics alone.
const onlyMetrics = "metrics"

// Metrics reports whether a token may read what is counted of all tenants: it is for
// that alone, or for all of the server's own home.
func (t Token) Metrics() bool {
	return t.Only == onlyMetrics || (t.Tenant == "" && !t.Rights.Narrow() && t.Rights.Profile == "")
}

// bounds are the words of a line that bounds a tenant.
var bounds = []string{"entries", "bytes", "writes"}

// addQuota adds what the words of a line bound, where they bound a tenant.
func addQuota(quotas map[string]Quota, words []string) (is bool, err error) {
	if !strings.HasPrefix(words[0], "tenant=") {
		return false, nil
	}
	tenant, q, err := readQuota(words)
	if _, twice := quotas[tenant]; twice && err == nil {
		err = fmt.Errorf("tenant %q is bounded by an earlier line already", tenant)
	}
	quotas[tenant] = q
	return true, err
}

// readQuota reads a line such as "tenant=acme entries=100000 bytes=500MB writes=50".
func readQuota(words []string) (tenant string, q Quota, err error) {
	_, tenant, _ = strings.Cut(words[0], "=")
	if err := CheckTenant(tenant); err != nil {
		return tenant, q, err
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		n, err := readSize(value, key == "bytes")
		switch {
		case !slices.Contains(bounds, key):
			return tenant, q, fmt.Errorf("what can follow tenant=%s is entries=N, bytes=N (such as 500MB) and writes=N", tenant)
		case err != nil:
			return tenant, q, fmt.Errorf("%s=N needs a whole number above 0, such as %s=%s", key, key, map[bool]string{true: "500MB", false: "1000"}[key == "bytes"])
		case key == "entries":
			q.Entries = int(n)
		case key == "bytes":
			q.Bytes = n
		case key == "writes":
			q.Writes = int(n)
		}
	}
	return tenant, q, nil
}

// units are what may follow a number of bytes.
var units = []struct {
	name string
	size int64
}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}

func readSize(s string, unit bool) (int64, error) {
	size := int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok && unit {
			s, size = rest, u.size
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err == nil && (n == 0 || int64(n) > math.MaxInt64/size) {
		err = strconv.ErrRange
	}
	return int64(n) * size, err
}

// May says in words what the token lets its client do.
func (t *Token) May() string {
	switch {
	case t.Only != "":
		return "reads " + t.Only + " and no memory"
	case t.Tenant != "":
		return t.Rights.String() + " of tenant " + t.Tenant
	}
	return t.Rights.String()
}
