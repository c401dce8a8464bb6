package gdpr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"memdesk/gdpr"
)

func TestOpenDSR(t *testing.T) {
	good := `{"controller_id":"c","subject_request_id":"a7551968-d5d6-44b2-9831-815ac9017798","subject_request_type":"erasure","submitted_time":"2026-05-20T23:30:00-02:00",
"regulation":"gdpr","subject_identities":[{"identity_type":"controller_customer_id","identity_value":"usr_7","identity_format":"raw"},{"identity_type":"email","identity_value":"ida@x.example","identity_format":"raw"}]}`
	in, err := gdpr.FromOpenDSR([]byte(good))
	if err != nil || in.Subject != "usr_7" || len(in.Aliases) != 1 || in.Received != "2026-05-21" || in.OpenDSR != "a7551968-d5d6-44b2-9831-815ac9017798" {
		t.Fatalf("%+v %v", in, err)
	}
	for name, swap := range map[string][2]string{
		"another type": {`"erasure"`, `"access"`}, "a hash": {`"raw"`, `"sha256"`}, "no time": {"2026-05-20T23:30:00-02:00", "yesterday"},
		"a name as the id": {"a7551968-d5d6-44b2-9831-815ac9017798", "Ida Frost"}, "nobody": {`"subject_identities"`, `"others"`},
	} {
		if in, err := gdpr.FromOpenDSR([]byte(strings.Replace(good, swap[0], swap[1], 1))); err == nil {
			t.Errorf("%s passes: %+v", name, in)
		}
	}
}

func TestIdentityCheckIsInTheReceipt(t *testing.T) {
	w := newWorld(t)
	r := w.file()
	for _, bad := range [][2]string{{"by phone with Ida", ""}, {"login", "2099-01-01"}, {"", ""}} {
		if _, err := w.desk.Identify(t.Context(), r.ID, bad[0], bad[1]); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
	if _, err := w.desk.Identify(t.Context(), r.ID, "document", ""); err != nil {
		t.Fatal(err)
	}
	got, err := w.desk.Get(r.ID)
	if err != nil || got.Identity == nil || got.Identity.Method != "document" || got.Identity.By == "" || got.OpenDSRStatus() != "pending" {
		b, _ := json.Marshal(got.Identity)
		t.Errorf("%s %v", b, err)
	}
}
