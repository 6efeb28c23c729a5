//! English.

use super::{Forms, Head, Tongue};

pub(super) const ENGLISH: Tongue = Tongue {
    forms: Forms::English,
    head: Head::Last,
    craft: "\
        refactor, implement, reimplement, debug, port, patch, scaffold, code, program, mock, stub, parallelize, \
        parallelise, modularize, modularise, decouple, hotfix, monkeypatch, automate, instrument, dockerize, \
        dockerise, containerize, containerise, deduplicate, debounce, throttle, memoize, memoise, backport, \
        transpile, minify, polyfill, paginate, lazy load, vectorize, internationalize, typecheck, inline, \
        hardcode, unmarshal, deserialize, autocomplete, rate limit, parse, serialize, serialise, cache, persist, \
        unit test, hot reload, transcode, recompile, precompute, prefetch",
    change: "\
        add, fix, write, rewrite, create, make, build, rebuild, develop, generate, remove, delete, drop, rename, \
        move, extract, split, replace, swap, convert, turn, migrate, upgrade, downgrade, bump, pin, update, \
        modify, edit, change, adjust, adapt, tweak, extend, expand, introduce, integrate, wire, hook, connect, \
        wrap, support, handle, catch, validate, sanitize, escape, store, enable, disable, allow, let, set, set \
        up, setup, configure, optimize, optimise, improve, speed, reduce, simplify, clean, clean up, tidy, \
        modernize, modernise, harden, secure, format, reformat, lint, solve, resolve, address, repair, correct, \
        restore, revert, put, use, need, want, give, get rid, center, centre, align, style, hide, expose, throw, \
        return, log, print, train, apply, complete, finish, unify, consolidate, generalize, generalise, \
        deprecate, annotate, type, cover, reproduce, bring, prevent, ensure, touch, strip, insert, append, \
        inject, localize, initialize, bootstrap, define, declare, craft, whip up, make sure, vibe code, knock, \
        knock together, knock up, whip, cut, ship, ditch, undo, rework, redo, silence, suppress, sort, sort out, \
        shrink, shorten, lower, raise, increase, decrease, skip, ignore, accept, reject, get, keep, mark, \
        register, render, filter, group, trim, encode, decode, encrypt, embed, load, preload, sync, stream, \
        batch, guard, lock, protect, detect, provide, produce, bundle, propagate, display, i'd like, would like, \
        spin up, stand up, restructure, reorganize, decompose, separate, collapse, combine, switch, substitute, \
        overhaul, avoid, omit, emit, track, override, overload, swallow, mask, seed, populate, compress, tune, \
        retry, relax, tighten, bind, mount, map, route, forward, redirect, subscribe, dispatch, invalidate, \
        refresh, reset, flush",
    translate: "translate",
    leave: "\
        explain, review, summarize, summarise, research, describe, compare, analyze, analyse, investigate, find, \
        list, show, tell, check, audit, assess, evaluate, estimate, plan, read, look, walk, document, draft, \
        design, sketch, draw, plot, visualize, recommend, suggest, brainstorm, propose, discuss, proofread, \
        restart, deploy, run, rerun, execute, roll, merge, tag, push, pull, commit, open, close, schedule, book, \
        order, reply, answer, respond, send, prepare, outline, monitor, watch, install, uninstall, start, stop, \
        back up, backup, compile, transcribe, interview, teach, organize, organise, collect, gather, prioritize, \
        prioritise, label, search, look up, work out, identify, trace, measure, benchmark, profile, count, \
        calculate, compute, report, release, publish, assign, clone, fork, verify, confirm, diagnose, \
        understand, learn, quiz, rate, rank, predict, forecast, test, inspect, examine, see, locate, figure, \
        call, remind, invite, ask, notify",
    code: "\
        code, codebase, code base, source code, function, method, class, interface, module, package, component, \
        library, sdk, api, endpoint, route, handler, middleware, controller, service, server, client, backend, \
        frontend, front-end, back-end, database, schema, migration, query, stored procedure, trigger, index, \
        constraint, regex, regexp, regular expression, bug, crash, segfault, exception, error, error handling, \
        handling, stack trace, race condition, deadlock, memory leak, memory usage, leak, test, unit test, test \
        suite, test case, test coverage, coverage, fixture, build, lint, linter, lint error, warning, import, \
        dependency, parser, tokenizer, lexer, compiler, interpreter, algorithm, binary search, variable, \
        constant, parameter, argument, field, property, attribute, enum, struct, trait, type hint, annotation, \
        docstring, loop, recursion, logic, validation, authentication, authorization, auth, login, logging, \
        cache, caching, queue, job queue, cron job, cron expression, webhook, websocket, rate limit, rate \
        limiting, rate limiter, retry, backoff, pagination, feature, feature flag, flag, cli, command line, \
        command, one-liner, oneliner, bot, scraper, crawler, extension, plugin, app, application, web app, \
        website, web site, webapp, game, page, landing page, button, sidebar, navbar, dropdown, modal, dialog, \
        toggle, checkbox, dark mode, stylesheet, layout, div, css, html, ui, makefile, dockerfile, \
        docker-compose, helm chart, workflow, ci, ci pipeline, pipeline, github action, config, configuration, \
        config file, type, types, hook, macro, singleton, dependency injection, merge conflict, review comment, \
        dead code, i18n, smart contract, solidity contract, script, program, health check, liveness probe, hash, \
        encoding, serialization, thread, lock, timeout, performance, prototype, codec, driver, daemon, wrapper, \
        callback, promise, generator, iterator, decorator, template, selector, reducer, resolver, mutation, env \
        variable, environment variable, security hole, vulnerability, edge case, null check, bounds check, icon \
        button, input validation, notebook, jupyter notebook, terraform module, playbook, manifest, lockfile, \
        base image, kernel, firmware, shader, classifier, neural network, simulator, emulator, calculator, \
        compiler flag, search bar, tooltip, spinner, fix, hotfix, patch, workaround, bugfix, array, dictionary, \
        string, integer, float, boolean, pointer, buffer, socket, byte, cookie, session, token, payload, \
        request, response, status code, query string, form, input, textarea, view, materialized view, foreign \
        key, primary key, transaction, logger, log level, widget, canvas, sprite, sensor, interrupt, bootloader, \
        timer, cron, crontab, proxy, load balancer, ingress, pod, namespace, bucket, lambda, worker, thread \
        pool, mutex, semaphore, coroutine, goroutine, event loop, event handler, listener, props, directive, \
        interceptor, serializer, deserializer, data model, entity, mapper, adapter, bytecode, allocator, heap, \
        hash map, linked list, date picker, picker, slider, carousel, autocomplete, search box, search input, \
        keyboard navigation, keyboard shortcut, hotkey, animation, breakpoint, media query, padding, favicon, \
        service worker, push notification, deep link, redirect, cors, csrf, xss, sql injection, encryption, 2fa, \
        sso, mod, userscript, linker, compile error, build error, type error, deprecation, deprecation warning, \
        function call, helper, utility function, subclass, inheritance, abstraction, boilerplate, snippet, \
        refactoring, throws, segfaults, compiling, compiles, stdout, stderr, stdin, terminal, console, cold \
        start, dataclass, bluetooth, search result, null pointer, overflow, underflow, checkout page, profile \
        page, settings page, login page, login form, download button, scroll, scrolling, tab order, screen \
        reader, aria, accessibility, colour scheme, color scheme, commit hook, git hook, pre-commit, test \
        runner, monorepo, submodule, gui, tui, repl, bash script, shell script, python script, api call, unit \
        file, calls, importer, exporter, loader, uploader, downloader, renderer, formatter, scheduler, \
        dispatcher, validator, encoder, decoder, watcher, fetcher, installer, bundler, router, skeleton loader, \
        whitespace, username, email field, alignment, icon, footer, header, panel, tab bar, toolbar, status bar, \
        progress bar, scrollbar, placeholder, tabs, seed script, seed data, test data, mock data, signal \
        handler, shutdown, exit code, return value, return type, error message, log message, stack overflow, \
        infinite loop, off-by-one, default value, timestamp, time zone, timezone, locale, date format, unicode, \
        utf-8, url, query parameter, http status, status endpoint, rest api, web service, microservice, event \
        store, data structure, data class, rule engine, state machine, transaction isolation, connection pool, \
        background job, batch job, data pipeline, etl, dag, model class, image tag, volume mount, lint rule, \
        eslint rule, compiler warning, test failure, failing test, flaky test, broken test, regression, \
        regression test, snapshot test, undo, redo, drag and drop, shortcut key, context menu, search function, \
        filter, sorting, export function, import function, csv export, pdf export, upload form, file upload, \
        image upload, captcha, cookie banner, paywall, shopping cart, checkout, signup, sign-up form, \
        registration form, password reset, user authentication, permission check, access control, rate-limiting, \
        session handling, email notification, chatbot, chat widget, dashboard, support, dep, deps, crate, msrv, \
        accessor, compile time, compile times, closure, stack size, compatibility layer, compatibility, getter, \
        setter, constructor, destructor, overload, operator, lifetime, panic, assertion, slice, vector, tuple, \
        generics, trait bound, feature gate, build script, linker error, abi, ffi, binding, backtrace, \
        allocation, checksum, header file, doc comment, release job, build job, test job, nightly job, instance, \
        keyword argument, optional argument, default argument, return code, stream, future, executor, runtime, \
        file descriptor, syscall, memory layout, cli option, subcommand, command line option, output format, log \
        output, json output, example code, sample code, demo app, demo page, build target",
    other: "\
        blog, blog post, post, article, essay, story, poem, haiku, novel, letter, email, e-mail, mail, message, \
        commit message, tweet, newsletter, report, summary, overview, documentation, doc, docs, document, \
        readme, changelog, release note, note, tutorial, guide, handbook, manual, wiki, wiki page, proposal, \
        rfc, design document, design doc, plan, test plan, roadmap, strategy, policy, process, schedule, agenda, \
        meeting, reservation, list, shopping list, budget, spreadsheet, presentation, deck, slide, slides, slide \
        deck, logo, image, picture, photo, illustration, diagram, sequence diagram, mockup, wireframe, video, \
        film, podcast, song, recipe, contract, agreement, business case, case study, job description, \
        description, cover letter, cv, resume, interview, interview question, question, course, course outline, \
        outline, lesson, workshop, syllabus, curriculum, ticket, issue, branch, pull request description, pr \
        description, review, code review, feedback, analysis, statement, paragraph, headline, slogan, tagline, \
        copy, wording, text, grammar, spelling, translation, criteria, acceptance criteria, user story, user \
        stories, persona, status, estimate, alarm, reminder, appointment, flight, trip, table of contents, \
        postmortem, post-mortem, explanation, recommendation, comparison, survey, questionnaire, announcement, \
        press release, faq, glossary, customer service, inbox, calendar, contact, team, colleague, customer, log \
        file, backlog, programme, joke, name, idea, folder, downloads folder, channel, guest, speech, checklist, \
        minutes, memo, brief, pitch, whitepaper, white paper, thesis, abstract, book, chapter, linkedin post, \
        bio, pdf, docx, mindmap, mind map, tap, kitchen, onboarding, onboarding process, paper, quote, offer, \
        playlist, eulogy, invoice, receipt, bill, complaint, bibliography, voice, tone, board, retrospective, \
        action item, training plan, lesson plan, demo, decision, architecture decision, lecture, exam, homework, \
        visa, insurance, medical record, diet, workout, garden, car, bike, room, furniture, dentist, doctor, \
        holiday, vacation, party, wedding, dinner, lunch, gift, price, pricing, salary, tax, tax return, loan, \
        bank, portfolio, stock, investment, market, competitor, campaign, ad, advert, brand, press, journalist, \
        investor, stakeholder, manager, employee, candidate, hiring, pull request, pr, commit, deployment, \
        outage, incident, milestone, deadline, sprint, okr, kpi, goal, mission statement, vision, value \
        proposition, knowledge base article, help article, use case diagram, flowchart, org chart, pie chart, \
        bar chart, infographic, poster, flyer, banner ad, icon set, cartoon, comic, lyrics, melody, caption, \
        subtitle, transcript, dictionary entry, phrase, sentence, synonym, rhyme, letter of intent, nda, terms \
        of service, privacy policy, clause, petition, poll, quiz, riddle, puzzle, crossword, itinerary, hotel, \
        restaurant, title, talk, introduction, conclusion, certificate, opinion, licence, license, quotation, \
        vendor, supplier, people, hackathon, event, author, pro and con, pros and cons, agenda item, keynote, \
        panel discussion, seminar, webinar, letter of recommendation, reference letter, feedback form, nps, \
        market research, sales pitch, product description, user manual, onboarding guide, style guide, brand \
        guide, code of conduct, security policy, runbook, incident report, status report, weekly report, annual \
        report, research paper, literature review, book review, meeting note, meeting notes, to-do list, action \
        items, travel plan, meal plan, study plan, project plan, business plan, rollout plan, migration plan, \
        release plan, backup plan, customer support, technical support, support ticket, support request, support \
        team",
    stage: "\
        video, film, movie, play, podcast, episode, speech, theatre, theater, sketch, commercial, show, wedding, \
        conference, ceremony, event, screenplay, webinar, phone call, sales call",
    double: "script, program, template, macro, feature, workflow, schema, class, type",
    topic: "\
        about, of, for, on, regarding, concerning, describing, explaining, why, how, whether, announcing, \
        covering, comparing, saying",
    place: "\
        in, into, to, from, with, within, inside, at, by, so, that, which, where, who, when, using, via, \
        through, after, before, instead, rather, because, without, until, as, per, under, between, than, over",
    join: "and, then, but, &, plus, afterwards",
    lead: "\
        please, pls, plz, hi, hey, hello, can, could, would, will, you, u, ya, i, we, i'd, i'll, we'd, like, to, \
        also, just, now, first, finally, next, only, kindly, help, me, us, let's, lets, go, ahead, quickly, so, \
        ok, okay, maybe, simply, try, try to, must, should, have, someone, somebody, thanks, properly, \
        carefully, again, still, urgently, urgent, asap, always, actually, basically",
    ask: "need, want, i'd like, would like, give",
    question: "\
        what, what's, whats, why, how, where, who, whose, when, which, is, are, was, were, does, did, has, am",
    deny: "don't, dont, do not, not, never, without, didn't, won't, no need",
    everything: "code, any code, anything, nothing, files, any file, file, source, any, something",
    pronoun: "it, them, this, that, these, those, everything, whatever, one",
    wish: "should, shouldn't, must, ought, needs to, has to",
    story: &[("as", "i want"), ("as", "i need"), ("as", "i would like")],
};
