// This file declares tenants and their quotas. Tenants are the users or groups that share a server.

package auth

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// A Quota limits a tenant's data and the rate of the tenant's changes. If a field is 0, it does not limit anything.
type Quota struct {
	MaxEntries         int   // maximum number of entries in the tenant's memory
	MaxBytes           int64 // maximum size of the memory and its history, in bytes
	MaxWritesPerSecond int   // maximum number of changes per second, averaged over a short time
}

// maxTenantNameLength is the maximum length of a tenant's name.
const maxTenantNameLength = 63

var tenantNamePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
})

// CheckTenant returns an error if a name is not a valid name of a tenant. A tenant's name is also the name of a
// directory, and must be valid and unambiguous on each operating system. Therefore the name may contain only
// lower-case letters, digits, dashes and underscores.
func CheckTenant(name string) error {
	switch {
	case name == "" || len(name) > maxTenantNameLength:
		return fmt.Errorf("a tenant's name has 1 to %d characters; this has %d", maxTenantNameLength, len(name))
	case !tenantNamePattern().MatchString(name):
		return errors.New(
			"a tenant's name is made of lower-case letters, digits, dashes and underscores, and begins with a letter " +
				"or digit",
		)
	case text.IsDeviceName(name):
		return fmt.Errorf("%q is the name of a device on Windows, and cannot be a tenant's", name)
	}
	return nil
}

// TenantNames returns the sorted names of the tenants to whose memories the tokens give access. It ignores tokens that
// are only for another purpose (see Token.Purpose).
func (ts Tokens) TenantNames() []string {
	var names []string
	for _, t := range ts {
		if t.Tenant != "" && t.Purpose == "" {
			names = append(names, t.Tenant)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ForTenant returns the tokens that give access to the memory of a tenant. If tenant is "", it returns the tokens for
// the server's own home. Tokens that may only read the server's metrics are left out.
func (ts Tokens) ForTenant(tenant string) Tokens {
	return slices.DeleteFunc(slices.Clone(ts), func(t Token) bool { return t.Tenant != tenant || t.Purpose != "" })
}

// purposeMetrics is the value of [Token.Purpose] for a token that can only be used to read metrics.
const purposeMetrics = "metrics"

// MayReadMetrics reports whether the token may be used to read the metrics of all tenants. This is the case for tokens
// that are only for metrics, and for tokens that give access to all data in the server's own home.
func (t Token) MayReadMetrics() bool {
	return t.Purpose == purposeMetrics || (t.Tenant == "" && !t.Rights.AreLimited() && t.Rights.Profile == "")
}

// quotaKeys contains the keys that a line with the quota of a tenant may have.
var quotaKeys = []string{"entries", "bytes", "writes"}

// addQuota parses the words of a line in a token file that specifies the quota of a tenant, and adds the quota to
// quotas. isQuota is false if the line is of another kind: it does not begin with "tenant=".
func addQuota(quotas map[string]Quota, words []string) (isQuota bool, err error) {
	if !strings.HasPrefix(words[0], "tenant=") {
		return false, nil
	}
	tenant, q, err := parseQuota(words)
	if _, twice := quotas[tenant]; twice && err == nil {
		err = fmt.Errorf("tenant %q is bounded by an earlier line already", tenant)
	}
	quotas[tenant] = q
	return true, err
}

// parseQuota parses a line such as "tenant=acme entries=100000 bytes=500MB writes=50".
func parseQuota(words []string) (tenant string, q Quota, err error) {
	_, tenant, _ = strings.Cut(words[0], "=")
	if err := CheckTenant(tenant); err != nil {
		return tenant, q, err
	}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		n, err := parseSize(value, key == "bytes")
		switch {
		case !slices.Contains(quotaKeys, key):
			return tenant, q, fmt.Errorf(
				"what can follow tenant=%s is entries=N, bytes=N (such as 500MB) and writes=N",
				tenant,
			)
		case err != nil:
			return tenant, q, fmt.Errorf(
				"%s=N needs a whole number above 0, such as %s=%s",
				key,
				key,
				map[bool]string{true: "500MB", false: "1000"}[key == "bytes"],
			)
		case key == "entries":
			q.MaxEntries = int(n)
		case key == "bytes":
			q.MaxBytes = n
		case key == "writes":
			q.MaxWritesPerSecond = int(n)
		}
	}
	return tenant, q, nil
}

// sizeUnits contains the units that may follow a number of bytes.
var sizeUnits = []struct {
	name string
	size int64
}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}

func parseSize(s string, allowUnit bool) (int64, error) {
	size := int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, u.name); ok && allowUnit {
			s, size = rest, u.size
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return int64(n) * size, err
	}
	if n == 0 || int64(n) > math.MaxInt64/size {
		err = strconv.ErrRange
	}
	return int64(n) * size, err
}

// DescribeRights returns a description of the rights that a client with this token has.
func (t *Token) DescribeRights() string {
	switch {
	case t.Purpose != "":
		return "reads " + t.Purpose + " and no memory"
	case t.Tenant != "":
		return t.Rights.String() + " of tenant " + t.Tenant
	}
	return t.Rights.String()
}
