#include "config.h"

#include "web/answer.h"

#include "web/request.h"

void answer(struct api_call *c, int status, bool ok, const struct err *err)
{
    struct response *res = c->res;

    if (ok) {
        res->status = status;
        return;
    }

    struct buf errors = res->body;
    bool is_list = errors.len > 0 && errors.ptr[0] == '[';

    res->body = (struct buf){0};
    response_set_err(res, err, is_list ? buf_str(&errors) : STR(""));
    buf_free(&errors);
}

void answer_bad(struct api_call *c, const char *detail)
{
    response_set_problem(c->res,
                         &(struct response_problem){.status = 400, .detail = str_from(detail)});
}
