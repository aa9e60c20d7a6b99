#include "config.h"

#include "src/access/role.h"

static const char *const names[N_ROLES] = {
    [ROLE_WORDS] = "words",   [ROLE_PROBE] = "probe",       [ROLE_PAGE] = "page",
    [ROLE_VIEWER] = "viewer", [ROLE_OPERATOR] = "operator", [ROLE_ADMIN] = "admin",
};

const char *role_name(enum access_role r)
{
    return names[r];
}

bool role_parse(enum access_role *out, struct str name)
{
    for (int r = ROLE_VIEWER; r < N_ROLES; r++)
        if (str_equal(name, str_from(names[r]))) {
            *out = (enum access_role)r;
            return true;
        }
    return false;
}
