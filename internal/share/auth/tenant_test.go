// Tests the names of tenants, the tokens of tenants, and the lines of a token file that limit tenants.

package auth

import (
	"reflect"
	"strings"
	"testing"
)

func TestCheckTenant(t *testing.T) {
	for _, name := range []string{"a", "acme", "0", "team-7_b", strings.Repeat("a", 63), "com", "com10", "console",
		"lpta"} {
		if err := CheckTenant(name); err != nil {
			t.Errorf("CheckTenant(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a.b", "Acme", "acmé", "a b", "-a", "_a", "a\x00",
		"con", "nul", "com1", "lpt0", "a:b", "a\n", strings.Repeat("a", 64)} {
		if err := CheckTenant(name); err == nil {
			t.Errorf("CheckTenant(%q) = nil, want an error", name)
		}
	}
}

func TestTenantTokens(t *testing.T) {
	file := "own " + secret + "-0 rw\nops " + secret + "-1 rw tenant=acme\nci " + secret +
		"-2 ro tenant=beta\n tenant=acme entries=100000 bytes=500MB writes=50 # bounds\ntenant=beta\n"
	ts, quotas, err := ParseTokens("tokens", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := ts.TenantNames(); !reflect.DeepEqual(got, []string{"acme", "beta"}) {
		t.Errorf("Tenants = %q", got)
	}
	scraper, _, err := ParseTokens("tokens", []byte("m "+secret+" ro only=metrics\nn "+secret+
		"-2 ro only=metrics tenant=acme\n"))
	if err != nil || len(scraper.ForTenant(""))+len(scraper.ForTenant("acme"))+len(scraper.TenantNames()) > 0 ||
		!scraper[0].MayReadMetrics() {
		t.Errorf("a token for metrics opens a memory: %+v, %v", scraper, err)
	}
	short, _, err := ParseTokens("tokens", []byte("prometheus  "+secret+"  only=metrics\n"))
	if err != nil || !short[0].MayReadMetrics() || !short[0].Rights.ReadOnly || len(short.ForTenant("")) > 0 {
		t.Errorf("the line of the manual gives %+v, %v", short, err)
	}
	for _, tk := range ts {
		if tk.MayReadMetrics() != (tk.Name == "own") {
			t.Errorf("token %q reads metrics: %v", tk.Name, tk.MayReadMetrics())
		}
	}
	if want := map[string]Quota{"acme": {100000, 500_000_000, 50}, "beta": {}}; !reflect.DeepEqual(quotas, want) {
		t.Errorf("the bounds are %v, want %v", quotas, want)
	}
	for i, want := range []string{
		"reads and writes all of the memory",
		"reads and writes all of the memory of tenant acme",
		"reads all of the memory of tenant beta",
	} {
		if got := ts[i].DescribeRights(); got != want {
			t.Errorf("token %q %s, want %s", ts[i].Name, got, want)
		}
	}
	if got, want := scraper[1].DescribeRights(), "reads metrics and no memory"; got != want {
		t.Errorf("token %q %s, want %s", scraper[1].Name, got, want)
	}
	for tenant, name := range map[string]string{"": "own", "acme": "ops", "beta": "ci"} {
		for i := range 3 {
			s := secret + "-" + string(rune('0'+i))
			if got, ok := ts.ForTenant(tenant).FindBySecret(s); ok != (got.Name == name) {
				t.Errorf("of tenant %q, Find(%q) = %q, %v", tenant, s, got.Name, ok)
			}
		}
	}
}

func TestTenantDiagnostics(t *testing.T) {
	for line, want := range map[string]string{
		"ci " + secret + " rw tenant=../x":           "lower-case letters",
		"ci " + secret + " rw tenant=a tenant=b":     "one tenant",
		"ci " + secret + " ro only=backup":           "only=metrics",
		"ci " + secret + " rw tenant=":               "write tenant=VALUE",
		"tenant=A entries=1":                         "lower-case letters",
		"tenant=a entries=0":                         "entries=1000",
		"tenant=a bytes=-1":                          "bytes=500MB",
		"tenant=a bytes=99999999999999GB":            "whole number",
		"tenant=a entries=1MB":                       "entries=1000",
		"tenant=a speed=1":                           "entries=N, bytes=N",
		"tenant=a writes=1\ntenant=a writes=2":       "earlier line",
		"tenant=a writes=5 " + secret + "-misplaced": "entries=N, bytes=N",
	} {
		_, _, err := ParseTokens("tokens", []byte(line+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
