#include "config.h"

#include "src/file/data_folder.h"

#include "src/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(const char *path, int why, struct err *err)
{
    return err_set_code(
        err, ERR_REJECT, "errno", why,
        "the data folder %.200s: %s; fix: give it to this user, or change data: in "
        "the configuration",
        path, strerror(why));
}

/* Makes each missing folder of the path. */
static bool make_folders(const char *path)
{
    char *copy = mem_copy(path);
    bool ok = true;

    for (char *p = copy + 1; ok && *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        ok = mkdir(copy, S_IRWXU) == 0 || errno == EEXIST;
        *p = '/';
    }
    ok = ok && (mkdir(copy, S_IRWXU) == 0 || errno == EEXIST);
    free(copy);
    return ok;
}

/* Root could write here, but the daemon's user could not read what root made. */
static bool is_ours(const char *path, const struct stat *st, struct err *err)
{
    const struct passwd *owner;

    if (st->st_uid == geteuid())
        return true;
    owner = getpwuid(st->st_uid);
    return err_set(err, ERR_REJECT,
                   "the data folder %.200s belongs to %s; fix: run this as that user, with the "
                   "daemon running, or set another data: in the configuration",
                   path, owner != NULL ? owner->pw_name : "another user");
}

static bool is_closed(const char *path, const struct stat *st, struct err *err)
{
    return (st->st_mode & (S_IWGRP | S_IRWXO)) == 0 ||
           err_set(
               err, ERR_REJECT,
               "the data folder %.200s is open to others (mode %04o); fix: chmod 700 %.200s",
               path, (unsigned)st->st_mode & 07777, path);
}

static bool has_no_links(const char *path, struct err *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool ok = folder != NULL || fail(path, errno, err);

    while (ok && (entry = readdir(folder)) != NULL) {
        struct stat st;

        if (fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISLNK(st.st_mode))
            ok = err_set(
                err, ERR_REJECT,
                "the data folder %.200s has a symbolic link, %.100s, which Millrace does "
                "not follow; fix: replace the link with its target, or remove it",
                path, entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
    return ok;
}

bool data_folder_open(const char *path, struct err *err)
{
    struct stat st;

    if (!make_folders(path) || stat(path, &st) == -1)
        return fail(path, errno, err);
    if (!S_ISDIR(st.st_mode))
        return fail(path, ENOTDIR, err);
    if (!is_ours(path, &st, err) || !is_closed(path, &st, err))
        return false;
    if (access(path, R_OK | W_OK | X_OK) == -1)
        return fail(path, errno, err);
    return has_no_links(path, err);
}
