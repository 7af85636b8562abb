import type { DatasetStore } from '@svc/store';
import { empty, json, stream } from '../http/answer.ts';
import { JsonText } from '../http/json-text.ts';
import { RequestError } from '../http/request-error.ts';
import type { Route, RouteRequest } from '../http/route.ts';
import { datasetBody, sectionBody, summaryBody } from './dataset-body.ts';
import { NAME, OPTIONAL_TEXT } from './dataset-fields.ts';
import { DATASET, DATASET_SUMMARY, ITEM, PAGE_QUERY, page, SECTION } from './schemas.ts';
